import { hidesSomething, written } from './visibleText';

export type CopyResult = 'copied' | 'cleaned' | 'failed';

/** Copies what was shown: characters that cannot be seen are written out, and the caller can say so. */
export async function copyText(text: string): Promise<CopyResult> {
  const shown = text.replace(/\n+$/, '');
  const isClean = !hidesSomething(shown.replaceAll('\t', ' ').replace(/ {16,}/g, ' '));
  try {
    await navigator.clipboard.writeText(isClean ? shown : written(shown));
    return isClean ? 'copied' : 'cleaned';
  } catch {
    return 'failed';
  }
}
