// Regular expressions of gateways, PCRE and RE2, as JavaScript's.

/** What JavaScript writes differently, and would read as something else. */
const WRITTEN: Readonly<Record<string, string>> = {
  ...{ '\\A': '^', '\\z': '$', '\\Z': '$', '(?P<': '(?<', '[:alpha:]': 'a-zA-Z', '[:alnum:]': 'a-zA-Z\\d' },
  ...{ '[:digit:]': '\\d', '[:lower:]': 'a-z', '[:upper:]': 'A-Z', '[:xdigit:]': '\\da-fA-F', '[:space:]': '\\s' },
};
const DIFFERENT = /\\(?:x\{|[\s\S])|\(\?P<|\[:\w+:\]/g;

function written(sign: string): string {
  if (WRITTEN[sign] === undefined && /^\\(?:x\{|[aeg-jlmo-qyzCE-RTUVXY])|^\[:/.test(sign)) throw new SyntaxError(sign);
  return WRITTEN[sign] ?? sign;
}

const expressions = new Map<string, RegExp | undefined>();

/** Undefined if JavaScript cannot parse the expression. Flags are at its beginning, also in the brackets of a whole one. */
export function expressionOf(text: string, ignoresCase: boolean): RegExp | undefined {
  const name = `${ignoresCase} ${text}`;
  if (!expressions.has(name)) {
    const [all = '', before = '', flags = ''] = /^(\^?(?:\(\?:)?)\(\?([ims]+)\)/.exec(text) ?? [];
    const flag = ignoresCase || flags.includes('i') ? 'i' : '';
    try {
      expressions.set(name, new RegExp(before + text.slice(all.length).replace(DIFFERENT, written), flag));
    } catch {
      expressions.set(name, undefined);
    }
  }
  return expressions.get(name);
}

export const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
