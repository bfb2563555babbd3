// YAML, JSON and HCL as one tree: fields, items and values, each with its line.
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseAllDocuments, type Node as YamlNode } from 'yaml';
import type { FoundLimits, Source } from './found.js';

export interface TreeEntry {
  readonly file: string;
  readonly line: number;
  /** Undefined for fields and items, and for an `expression`. */
  readonly value: string | number | boolean | undefined;
  readonly expression: string | undefined;
  readonly fields: ReadonlyMap<string, TreeEntry>;
  readonly items: readonly TreeEntry[];
  readonly textLine: number;
}

const nothing: ReadonlyMap<string, TreeEntry> = new Map();

export function entryOf(file: string, line: number, given: Partial<TreeEntry>): TreeEntry {
  return { file, line, value: undefined, expression: undefined, fields: nothing, items: [], textLine: line, ...given };
}

/** Builds a tree of dotted names, such as `a.b`. */
export function treeOf(
  file: string,
  rows: readonly { readonly names: readonly string[]; readonly line: number; readonly value: string }[],
): TreeEntry {
  const root = new Map<string, TreeEntry>();
  for (const { names, line, value } of rows) {
    let fields = root;
    for (const [k, name] of names.entries()) {
      const inner = fields.get(name)?.fields ?? new Map<string, TreeEntry>();
      const own = fields.get(name) ?? entryOf(file, line, { fields: inner });
      fields.set(name, k === names.length - 1 ? { ...own, value } : own);
      fields = inner as Map<string, TreeEntry>;
    }
  }
  return entryOf(file, 1, { fields: root });
}

/** Envoy's JSON has `tokenBucket` for `token_bucket`. */
const camel = (name: string) =>
  name.includes('_') ? name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) : name;

/** Follows a path of names, through lists with one item. */
export function at(entry: TreeEntry | undefined, ...names: readonly string[]): TreeEntry | undefined {
  let here = entry;
  for (const name of names) {
    if (here !== undefined && here.fields.size === 0 && here.items.length === 1) here = here.items[0];
    here = here?.fields.get(name) ?? here?.fields.get(camel(name));
  }
  return here;
}

/** A single object counts as a list of one, as blocks of Terraform do. */
export function listAt(entry: TreeEntry | undefined, ...names: readonly string[]): readonly TreeEntry[] {
  const found = at(entry, ...names);
  if (found === undefined) return [];
  return found.items.length > 0 || found.fields.size === 0 ? found.items : [found];
}

export function textAt(entry: TreeEntry | undefined, ...names: readonly string[]): string | undefined {
  const found = at(entry, ...names);
  const { value } = found?.items.length === 1 ? found.items[0]! : (found ?? { value: undefined });
  return value === undefined ? undefined : String(value);
}

export function numberAt(entry: TreeEntry | undefined, ...names: readonly string[]): number | undefined {
  const text = textAt(entry, ...names)
    ?.trim()
    .replace(/^(\d+)_(?=\d)/, '$1');
  const number = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** Ignores null and empty lists, which plans contain for absent values. */
export const isGiven = (entry: TreeEntry | undefined): entry is TreeEntry =>
  entry !== undefined &&
  (entry.fields.size > 0 || entry.items.length > 0 || entry.value !== undefined || entry.expression !== undefined);

/** An object without fields is there, as a block of Terraform without settings is: `count {}`. */
export const isThere = (entry: TreeEntry | undefined): boolean =>
  entry !== undefined && (entry.fields !== nothing || isGiven(entry));

type Numbers<Name extends string> = {
  readonly [One in Name as One extends `${string}?` ? never : One]: number;
} & { readonly [One in Name as One extends `${infer Own}?` ? Own : never]?: number };

/** Numbers by their names, with `?` those that may be absent; undefined if one is not written out, which is noted. */
export function numbersAt<Name extends string>(
  entry: TreeEntry,
  found: FoundLimits,
  ...names: readonly Name[]
): Numbers<Name> | undefined {
  const read: Record<string, number> = {};
  let isWhole = true;
  for (const one of names) {
    const name = one.replace('?', '');
    const given = at(entry, name);
    const number = numberAt(given);
    if (number !== undefined) read[name] = number;
    else if (isGiven(given) || name === one) {
      isWhole = false;
      const isOpen = given?.expression !== undefined;
      const why = isOpen ? ': it is known only once Terraform has evaluated it' : ', and no number';
      found.refuse(given ?? entry, `${name} is ${given?.expression ?? given?.value ?? 'not there'}${why}`);
    }
  }
  return isWhole ? (read as Numbers<Name>) : undefined;
}

/** The items of a list as texts. */
export const textsAt = (entry: TreeEntry | undefined, ...names: readonly string[]) =>
  listAt(entry, ...names).map(({ value }) => String(value));

export type Say = (line: number, what: string) => void;

const MOST_DEPTH = 200;

/** The first line nested too deeply. The YAML parser is recursive and its stack is limited. */
function tooDeepAt(text: string): number | undefined {
  let [line, depth, dashes] = [1, 0, 0];
  for (const [sign] of text.matchAll(/[[\]{}\n]|[-?](?=\s)/g)) {
    if (sign === '\n') [line, dashes] = [line + 1, 0];
    else if (sign === '-' || sign === '?') dashes += 1;
    else depth = Math.max(0, depth + (sign === '[' || sign === '{' ? 1 : -1));
    if (depth + dashes > 5 * MOST_DEPTH) return line;
  }
  return undefined;
}

/** Comments of a JSON file, which YAML would take for names, become blanks. */
const withoutComments = (text: string) =>
  text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (one) =>
    one.startsWith('"') ? one : one.replace(/[^\n]/g, ' '),
  );

export function documentsOf({ name: file, text: written }: Source, say: Say): TreeEntry[] {
  const text = /\.jsonc?$/i.test(file) ? withoutComments(written) : written;
  const deep = tooDeepAt(text);
  if (deep !== undefined) {
    say(deep, 'it is too deep to be read');
    return [];
  }
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, merge: true, logLevel: 'silent' });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      say(
        lines.linePos(error.pos[0]).line,
        `it is not valid YAML: ${error.message.split('\n')[0]!.replace(/ at line .*$/, '')}`,
      );
      return [];
    }
    // Aliases of aliases grow without bound.
    let left = 20_000;
    const entry = (node: YamlNode | null, depth: number, isAliased = false): TreeEntry => {
      const line = node?.range ? lines.linePos(node.range[0]).line : 1;
      if (isAliased) left -= 1;
      if (depth > MOST_DEPTH || left < 0) {
        if (depth > MOST_DEPTH || left === -1) say(line, 'it is too deep or too large to be read whole');
        return entryOf(file, line, {});
      }
      if (isAlias(node)) return { ...entry(node.resolve(document) ?? null, depth + 1, true), line };
      if (isMap(node)) {
        const fields = new Map<string, TreeEntry>();
        for (const pair of node.items) {
          if (!isPair(pair)) continue;
          const key = pair.key as YamlNode | null;
          const name = isScalar(key) ? String(key.value) : '';
          const value = entry(pair.value as YamlNode | null, depth + 1, isAliased);
          const own = key?.range ? lines.linePos(key.range[0]).line : value.line;
          const merged = /^(?:<<|Symbol\(<<\))$/.test(name) ? [value, ...value.items] : [];
          if (merged.length > 0) {
            for (const one of merged)
              for (const [inner, given] of one.fields) fields.set(inner, fields.get(inner) ?? given);
          } else fields.set(name, { ...value, line: own });
        }
        return entryOf(file, line, { fields });
      }
      if (isSeq(node))
        return entryOf(file, line, { items: node.items.map((item) => entry(item as YamlNode, depth + 1, isAliased)) });
      const value = isScalar(node) ? node.value : undefined;
      const isBlock = isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      return entryOf(file, line, { value: isPlain ? value : undefined, textLine: isBlock ? line + 1 : line });
    };
    return document.contents === null ? [] : [entry(document.contents as YamlNode, 0)];
  });
}

export function* walk(
  entry: TreeEntry,
  names: readonly string[] = [],
): Generator<readonly [entry: TreeEntry, names: readonly string[]]> {
  yield [entry, names];
  for (const [name, inner] of entry.fields) yield* walk(inner, [...names, name]);
  for (const inner of entry.items) yield* walk(inner, names);
}
