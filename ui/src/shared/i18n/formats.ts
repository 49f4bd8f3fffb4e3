/** Numbers, money and time in a language, by `Intl`. */

export type Locale = 'en' | 'zh-CN';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface Units {
  ms: string;
  s: string;
  m: string;
  h: string;
}

const UNITS: Record<Locale, Units> = {
  en: { ms: ' ms', s: ' s', m: ' m', h: ' h' },
  'zh-CN': { ms: ' 毫秒', s: ' 秒', m: ' 分', h: ' 小时' },
};

const LIMITS: Record<Locale, { s: string; min: string; h: string }> = {
  en: { s: 's', min: 'min', h: 'h' },
  'zh-CN': { s: '秒', min: '分钟', h: '小时' },
};

export class Formats {
  private readonly numbers: Intl.NumberFormat;
  private readonly tenths: Intl.NumberFormat;
  private readonly percents: Intl.NumberFormat;
  private readonly compacts: Intl.NumberFormat;
  private readonly rules: Intl.PluralRules;
  private readonly relatives: Intl.RelativeTimeFormat;
  private readonly times: Intl.DateTimeFormat;
  private readonly dates: Intl.DateTimeFormat;
  private readonly units: Units;
  private readonly limits: { s: string; min: string; h: string };

  /** `region` is the full tag of the system's language, for its habits of writing numbers and times. */
  constructor(
    readonly language: Locale,
    region?: string,
  ) {
    const locale = region ?? language;
    this.numbers = new Intl.NumberFormat(locale);
    this.tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
    this.percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
    this.compacts = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
    this.rules = new Intl.PluralRules(locale);
    this.relatives = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
    this.times = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' });
    this.dates = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' });
    this.units = UNITS[language];
    this.limits = LIMITS[language];
  }

  number(value: number): string {
    return this.numbers.format(value);
  }

  compact(value: number): string {
    return this.compacts.format(value);
  }

  /** `1 file`, `3 files`. */
  count(value: number, one: string, other: string): string {
    return `${this.number(value)} ${this.rules.select(value) === 'one' ? one : other}`;
  }

  percent(share: number): string {
    return this.percents.format(share);
  }

  /** US dollars; small sums keep enough digits to be told from nothing. */
  cost(dollars: number): string {
    const digits = dollars !== 0 && dollars < 0.01 ? 4 : 2;
    return `$${dollars.toFixed(digits)}`;
  }

  /** A limit rather than a measure: `45 s`, `2 min`, `1 h 5 min`, without parts that are nothing. */
  limit(ms: number): string {
    const { limits } = this;
    const seconds = Math.round(ms / 1000);
    const whole: [number, string][] = [
      [Math.floor(seconds / 3600), limits.h],
      [Math.floor(seconds / 60) % 60, limits.min],
      [seconds % 60, limits.s],
    ];
    const said = whole.filter(([count]) => count > 0).map(([count, unit]) => `${this.number(count)} ${unit}`);
    return said.join(' ') || `0 ${limits.s}`;
  }

  /** `4 ms`, `8.2 s`, `6 m 12 s`, `1 h 5 m`. */
  duration(ms: number): string {
    const { units } = this;
    if (ms < 1000) return `${this.number(Math.max(0, Math.round(ms)))}${units.ms}`;
    if (ms < 10_000) return `${this.tenths.format(ms / 1000)}${units.s}`;
    if (ms < MINUTE) return `${this.number(Math.round(ms / 1000))}${units.s}`;
    const minutes = Math.floor(ms / MINUTE);
    if (ms < HOUR) return `${minutes}${units.m} ${Math.floor((ms % MINUTE) / 1000)}${units.s}`;
    return `${Math.floor(ms / HOUR)}${units.h} ${minutes % 60}${units.m}`;
  }

  /** A running clock: `0:42`, `1:04:09`. */
  clock(ms: number): string {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    const two = (value: number) => String(value).padStart(2, '0');
    const hours = Math.floor(seconds / 3600);
    const minutes = Math.floor(seconds / 60) % 60;
    return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  }

  bytes(count: number): string {
    if (count < 1024) return `${this.number(count)} B`;
    if (count < 1024 * 1024) return `${this.tenths.format(count / 1024)} KB`;
    return `${this.tenths.format(count / 1024 / 1024)} MB`;
  }

  /** `now`, `5 min. ago`, `yesterday`, then the date. */
  relative(at: number, now: number): string {
    const ms = now - at;
    if (ms < MINUTE) return this.relatives.format(0, 'second');
    if (ms < HOUR) return this.relatives.format(-Math.floor(ms / MINUTE), 'minute');
    const days = daysBetween(at, now);
    if (days === 0) return this.times.format(at);
    return days < 7 ? this.relatives.format(-days, 'day') : this.dates.format(at);
  }

  time(at: number): string {
    return this.times.format(at);
  }

  date(at: number): string {
    return this.dates.format(at);
  }

  /** `today`, `yesterday`, then the date: for headings. */
  day(at: number, now: number): string {
    const days = daysBetween(at, now);
    const word = days < 2 ? this.relatives.format(-Math.max(0, days), 'day') : this.dates.format(at);
    return word.charAt(0).toLocaleUpperCase(this.language) + word.slice(1);
  }
}

/** Midnights between two moments, in local time. */
export function daysBetween(at: number, now: number): number {
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  return Math.round((midnight(now) - midnight(at)) / DAY);
}
