// The lines of HAProxy's configuration: sections, tables, conditions.
//
//   acl is_api path_beg /api            http-request deny if is_api !{ src 10.0.0.0/8 }
//   a text: path_beg /api               a condition: the terms `is_api` and `!{ src 10.0.0.0/8 }`
import type { Source, Written } from './found.js';
import { FETCHES, sampleText } from './haproxy-conditions.js';
import { keyOfText, type LimitKey, unknownKey } from './limit-key.js';
import { fieldText, joinedText, type RequestText } from './request-condition.js';

export interface ConfigLine extends Written {
  readonly words: readonly string[];
  readonly text: string;
}

export interface ConfigSection {
  readonly kind: string;
  readonly name: string;
  /** After `from`: the name of its defaults. */
  readonly from: string | undefined;
  readonly lines: readonly ConfigLine[];
}

export interface StickTable extends Written {
  readonly name: string;
  readonly expire: string | undefined;
  /** Of a table of strings: the characters of a key that it keeps. */
  readonly length: number | undefined;
  readonly store: ReadonlyMap<string, string | undefined>;
}

export interface ConditionTerm {
  readonly text: string;
  readonly isNegated: boolean;
}

export const TRACKS =
  /^(?:(?:http|tcp)-request\s+(?:connection\s+|content\s+|session\s+)?)?track-sc(\d)\s+(\S+)(?:\s+table\s+(\S+))?/;

/** The condition after the last word `if` or `unless`. */
export function conditionOf({ words }: Pick<ConfigLine, 'words'>) {
  const from = Math.max(words.lastIndexOf('if'), words.lastIndexOf('unless'));
  if (from < 0) return { word: undefined, terms: [] };
  const text = words.slice(from + 1).join(' ');
  const terms = [...text.matchAll(/((?:!\s*)*)(\{\s.*?\s\}(?=\s|$)|[^\s!]\S*)/g)].map(([, signs = '', term = '']) => ({
    text: term,
    isNegated: signs.replace(/\s/g, '').length % 2 === 1,
  }));
  return { word: words[from], terms };
}

/** Of a condition with `or`, terms that all hold. */
export function alternativesOf(terms: readonly ConditionTerm[]): readonly (readonly ConditionTerm[])[] {
  const alternatives: ConditionTerm[][] = [[]];
  for (const one of terms)
    if (one.text === 'or' || one.text === '||') alternatives.push([]);
    else alternatives.at(-1)!.push(one);
  return alternatives;
}

export function sectionsOf({ name: file, text }: Source): readonly ConfigSection[] {
  const sections: (ConfigSection & { readonly lines: ConfigLine[] })[] = [
    { kind: '', name: '', from: undefined, lines: [] },
  ];
  for (const [index, raw] of text.split('\n').entries()) {
    const words = wordsOf(raw);
    const [kind = '', name = ''] = words;
    if (words.length === 0) continue;
    if (/^(?:global|defaults|frontend|backend|listen|peers|resolvers|http-errors|cache|program|userlist)$/.test(kind))
      sections.push({ kind, name, from: /\sfrom\s+(\S+)/.exec(words.join(' '))?.[1], lines: [] });
    else sections.at(-1)!.lines.push({ file, line: index + 1, words, text: words.join(' ') });
  }
  return sections;
}

/** A blank within a word stays `\\ `: the words of a text are the same ones again. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [token] of line.matchAll(/#.*|(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s#"'\\])+/g)) {
    if (token.startsWith('#')) break;
    words.push(
      token.replace(
        /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(["'#\\])/g,
        (_, double?: string, single?: string, sign?: string) =>
          (double?.replace(/\\(["\\$])/g, '$1') ?? single ?? sign!).replace(/\s/g, '\\$&'),
      ),
    );
  }
  return words;
}

export function tablesOf({ kind, name, lines }: ConfigSection): StickTable[] {
  return lines.flatMap(({ text, file, line }) => {
    const [, own] = /^table\s+(\S+)\s+type/.exec(text) ?? [];
    if (own === undefined && !text.startsWith('stick-table ')) return [];
    const [, expire] = /\bexpire\s+(\w+)/.exec(text) ?? [];
    const [isText, length = '31'] = /\btype\s+string\b(?:\s+len\s+(\d+))?/.exec(text) ?? [];
    const stored = [...text.matchAll(/\bstore\s+(\S+(?:,\s*\S+)*)/g)].flatMap(([, list = '']) => [
      ...list.matchAll(/(\w+)(?:\((\w+)\))?/g),
    ]);
    return [
      {
        name: own === undefined ? name : kind === 'peers' ? `${name}/${own}` : own,
        file,
        line,
        expire,
        length: isText === undefined ? undefined : Number(length),
        store: new Map(stored.map(([, counter, period]) => [counter!, period])),
      },
    ];
  });
}

/** Each section with the lines of its defaults before its own: those that it names, or the last ones before it. */
export function withDefaults(sections: readonly ConfigSection[]): readonly ConfigSection[] {
  return sections.flatMap((section, i) => {
    const { kind, from, lines } = section;
    const isDefault = (one: ConfigSection) => one.kind === 'defaults' && (from === undefined || one.name === from);
    const above = /^(?:frontend|backend|listen)$/.test(kind) ? sections.slice(0, i).findLast(isDefault) : undefined;
    return kind === 'defaults' ? [] : [{ ...section, lines: [...(above?.lines ?? []), ...lines] }];
  });
}

/** Texts that a converter makes a number of. */
const HASHED: Readonly<Record<string, RequestText>> = {
  base32: FETCHES['base']!,
  'base32+src': joinedText([fieldText('client'), FETCHES['base']!]),
  url32: fieldText('url'),
  'url32+src': joinedText([fieldText('client'), fieldText('url')]),
};

/** Of converters those of case are known. @param length how much of a key the table keeps */
export function trackedKey(text: string, length?: number): LimitKey {
  const written = text.toLowerCase().replace(/,-1\)/, ')');
  const fetch = written.replace(/(?:,(?:lower|upper)(?:\(\))?)+$/, '');
  if (/^(?:int|str|always_true|dst_port|fe_id|be_id)\b[^,]*$/.test(fetch)) return { text, parts: [] };
  if (/^(?:req\.)?hdr(?:_ip)?\(x-forwarded-for\)$/.test(fetch)) return { text, parts: ['client'] };
  const [, name, given = ''] = /^([\w.+]+)(?:\(([^)]*)\))?$/.exec(fetch) ?? [];
  if (name === undefined) return unknownKey(text);
  const own = sampleText(name, given);
  const isShort = own.kind === 'field' && /^(?:client|method|status)$/.test(own.field);
  const test = { is: 'matching', value: `^(?<first>.{0,${length}})` } as const;
  const kept = isShort || length === undefined ? own : ({ kind: 'captured', of: own, test, group: 'first' } as const);
  const value = HASHED[name] ?? kept;
  const said = value.kind === 'captured' ? `${text}, its first ${length} characters` : text;
  return keyOfText(said, fetch === written ? value : { kind: 'lower', of: value });
}
