/** What new sessions of a project begin with, where it is not the model of all: kept with the settings, used by the core. */
import type { ModelRef, ProjectModel, Settings } from '../ipc/bindings';
import type { Complete } from './settings';

/** What they hang on. */
interface Place {
  projectId: string | null;
  settings: Complete;
  saveSettings: (change: Partial<Settings>) => Promise<void>;
}

export class ProjectModels {
  constructor(private readonly place: Place) {}

  of(project: string | null): ProjectModel | null {
    return (project !== null && this.place.settings.projects[project]) || null;
  }

  /** That of the project at hand. */
  get current(): ProjectModel | null {
    return this.of(this.place.projectId);
  }

  /** The model of new sessions of the project at hand. */
  get usual(): ModelRef | null {
    return this.current?.model ?? this.place.settings.model;
  }

  /** `null` is as all other projects. */
  async save(project: string, own: ProjectModel | null): Promise<void> {
    const { [project]: _, ...others } = this.place.settings.projects;
    await this.place.saveSettings({ projects: own ? { ...others, [project]: own } : others });
  }

  /** Takes a model for the project at hand, where that has one of its own; says whether it has. */
  async choose(model: ModelRef): Promise<boolean> {
    const { projectId } = this.place;
    const { current } = this;
    if (projectId === null || !current) return false;
    // How much is thought is the project's too: what a model cannot do of it, it leaves out.
    await this.save(projectId, { ...current, model });
    return true;
  }
}
