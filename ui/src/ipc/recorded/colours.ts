/** What a terminal can be told to draw, one row for each kind. */
export const COLOURS = (() => {
  const cells = (codes: readonly (number | string)[], text = ' ab ') =>
    codes.map((code) => `\x1b[${code}m${text}\x1b[0m`).join('');
  const each = (count: number) => Array.from({ length: count }, (_, at) => at);
  const eight = each(8);
  return [
    `names   ${cells(eight.map((at) => 30 + at))}${cells(eight.map((at) => 90 + at))}`,
    `grounds ${cells(eight.map((at) => 40 + at))}${cells(eight.map((at) => 100 + at))}`,
    `both    ${cells(eight.map((at) => `${30 + at};${40 + ((at + 3) % 8)}`))}${cells(eight.map((at) => `2;${90 + at};${47 - at}`))}`,
    `256     ${cells(
      each(36).map((at) => `38;5;${16 + at * 6}`),
      'a',
    )} ${cells(
      each(24).map((at) => `38;5;${232 + at}`),
      'b',
    )}`,
    `        ${cells(
      each(36).map((at) => `48;5;${21 + at * 6 - (at % 6)}`),
      'a',
    )} ${cells(
      each(24).map((at) => `48;5;${232 + at}`),
      'b',
    )}`,
    `true    ${cells(
      each(60).map((at) => `38;2;${255 - at * 4};${at * 4};160`),
      'a',
    )}`,
    `        ${cells(
      each(60).map((at) => `38;2;${at * 4};255;${at * 4};48;2;${255 - at * 4};${at * 4};160`),
      'a',
    )}`,
    `kinds   ${cells(['1', '2', '3', '4', '9', '7', '7;31', '7;32;44', '7;38;5;208', '2;31', '4;9;1;35'])}`,
    'Fetched 12 of 97\rFetched 97 of 97\x1b[K',
  ].join('\n');
})();
