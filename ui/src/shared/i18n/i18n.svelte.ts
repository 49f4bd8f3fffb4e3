/** The language in use. Switching it redraws everything that reads it; nothing is loaded later. */
import type { Language } from '../../ipc/bindings';
import { en, type Messages } from './en';
import { Formats, type Locale } from './formats';
import { zh } from './zh';

const DICTIONARIES: Record<Locale, Messages> = { en, 'zh-CN': zh };

class I18n {
  locale = $state<Locale>('en');
  readonly t = $derived(DICTIONARIES[this.locale]);
  private region = $state<string>();
  readonly f = $derived(new Formats(this.locale, this.region));

  /** Follows the setting; `system` is the system's language as a BCP 47 tag. */
  use(language: Language, system: string): void {
    this.locale = language === 'system' ? localeOf(system) : language;
    this.region = regionOf(system, this.locale);
    document.documentElement.lang = this.locale;
  }
}

/** The nearest of our languages; English where none is near. */
export function localeOf(tag: string): Locale {
  return /^zh(?![a-z])/i.test(tag) ? 'zh-CN' : 'en';
}

/** The system's tag where it is of the same language and known to `Intl`. */
function regionOf(system: string, locale: Locale): string | undefined {
  const tag = system.replaceAll('_', '-');
  try {
    return localeOf(tag) === locale && tag.slice(0, 2).toLowerCase() === locale.slice(0, 2)
      ? Intl.DateTimeFormat.supportedLocalesOf(tag)[0]
      : undefined;
  } catch {
    return undefined;
  }
}

export const i18n = new I18n();
