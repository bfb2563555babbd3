// Regular expressions of gateways, as JavaScript's.

const expressions = new Map<string, RegExp | undefined>();

/** Undefined if JavaScript cannot parse the expression. */
export function expressionOf(text: string, ignoresCase: boolean): RegExp | undefined {
  const name = `${ignoresCase} ${text}`;
  if (!expressions.has(name)) {
    const [flag = '', i] = /^\(\?(i)\)/.exec(text) ?? [];
    try {
      expressions.set(
        name,
        new RegExp(text.slice(flag.length).replaceAll('(?P<', '(?<'), ignoresCase || i === 'i' ? 'i' : ''),
      );
    } catch {
      expressions.set(name, undefined);
    }
  }
  return expressions.get(name);
}

export const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
