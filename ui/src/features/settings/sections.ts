import type { SettingsSection } from '../../app/dialog';
import type { Messages } from '../../shared/i18n/en';

/** The sections of the settings by their names, in their order. */
export const sectionNames = (t: Messages): Record<SettingsSection, string> => ({
  models: t.settings.models,
  permissions: t.permissions.title,
  sandbox: t.sandbox.title,
  servers: t.servers.title,
  hooks: t.hooks.title,
  additions: t.additions.title,
  subagents: t.subagents.title,
  shortcuts: t.keysSection.title,
  appearance: t.settings.appearance,
  data: t.dataSection.title,
  about: t.settings.about,
});
