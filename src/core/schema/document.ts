// Parses a scenario text into a value, and the line of each place.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, stringify } from 'yaml';
import { Failure, type Fault } from './failure.js';
import { pointerSteps } from './json-pointer.js';

export interface ScenarioDocument {
  readonly value: unknown;
  /** Prefixes JSON pointers with `line 3, column 7`. */
  located(faults: readonly Fault[]): Fault[];
}

/** Including nested aliases: more could turn a short text into a huge value. */
const MOST_ALIASES = 100;

/** Reads YAML 1.2, which includes JSON. @throws Failure `invalid_yaml` with line and column */
export function readDocument(text: string, name: string): ScenarioDocument {
  const lines = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  const document = parse(text.replace(/^\ufeff/, ''), lines, name);
  const errors = [...document.errors, ...document.warnings];
  if (errors.some(({ message }) => TOO_DEEP.test(message))) throw tooDeep(name);
  const faults = errors.map(({ pos: [offset], code, message }) => {
    return { path: placeAt(offset), message: words[code] ?? message.split('\n')[0]!.replace(/[.:]$/, '') };
  });
  if (faults.length > 0) throw refused(name, faults);
  return {
    value: readValue(document, name, placeAt),
    located: (faults) =>
      faults.map(({ path, message }) => {
        const offset = offsetOf(document, path);
        const place = offset === undefined ? placeAt(0) : placeAt(offset);
        return { path: path === '' ? place : `${place} (${path})`, message };
      }),
  };
}

const words: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here: a file holds one scenario',
  TAB_AS_INDENT: 'a tab stands where blanks are needed: YAML indents with blanks',
  TAG_RESOLVE_FAILED: 'tags have no meaning in a scenario',
};

const TOO_DEEP = /call stack/;

function tooDeep(name: string): Failure {
  return refused(name, [{ path: 'line 1, column 1', message: 'it is nested too deeply' }]);
}

function parse(text: string, lineCounter: LineCounter, name: string): Document.Parsed {
  try {
    return parseDocument(text, { lineCounter, merge: true, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    // The parser is recursive: nested brackets can exhaust the stack.
    if (error instanceof RangeError) throw tooDeep(name);
    throw error;
  }
}

function readValue(document: Document.Parsed, name: string, placeAt: (offset: number) => string): unknown {
  const broken = brokenAlias(document);
  if (broken !== undefined) throw refused(name, [{ path: placeAt(broken.offset), message: broken.message }]);
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw refused(name, [
      { path: 'line 1, column 1', message: `more than ${MOST_ALIASES} references: write the values out instead` },
    ]);
  }
}

const NO_MAP = '<< takes the fields of *NAME, where NAME is a map';

/** The first alias without an anchor, or inside its own value; and the first `<<` of what is no map. */
function brokenAlias(document: Document.Parsed): { readonly offset: number; readonly message: string } | undefined {
  const open = new Set<string>();
  const known = new Set<string>();
  const visit = (node: unknown): ReturnType<typeof brokenAlias> => {
    if (isAlias(node)) {
      const isOpen = open.has(node.source);
      if (!isOpen && known.has(node.source)) return undefined;
      const message = isOpen ? 'a value refers to itself' : `nothing before it is called &${node.source}`;
      return { offset: node.range?.[0] ?? 0, message };
    }
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (isMap(node) || isSeq(node)) {
      if (anchor !== undefined) open.add(anchor);
      const parts = isMap(node) ? node.items.flatMap(({ key, value }) => [key, value]) : node.items;
      for (const part of parts) {
        const found = visit(part);
        if (found !== undefined) return found;
      }
      const merged = isMap(node) && node.items.find(({ key, value }) => isMerge(key) && !mapsIn(value));
      if (merged) return { offset: (merged.key as Node).range?.[0] ?? 0, message: NO_MAP };
      if (anchor !== undefined) open.delete(anchor);
    }
    if (anchor !== undefined) known.add(anchor);
    return undefined;
  };
  const isMerge = (key: unknown) => isScalar(key) && typeof key.value === 'symbol';
  const mapsIn = (value: unknown) =>
    (isSeq(value) ? value.items : [value]).every((one) => isMap(isAlias(one) ? one.resolve(document) : one));
  return visit(document.contents);
}

/** The start of the key or entry of a JSON pointer; if it is missing, of its parent. */
function offsetOf(document: Document.Parsed, pointer: string): number | undefined {
  let node: unknown = document.contents;
  let offset = (node as Node | null)?.range?.[0];
  for (const step of pointerSteps(pointer)) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === step);
      if (pair === undefined) return offset;
      offset = (pair.key as Node | null)?.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function refused(name: string, faults: readonly Fault[]): Failure {
  return new Failure('invalid_yaml', {
    what: `${name} cannot be read.`,
    why: `${faults[0]?.path}: ${faults[0]?.message}.`,
    fix: 'Correct the place named; `weir init` writes a valid scenario.',
    faults,
  });
}

export function yamlText(value: unknown): string {
  return stringify(value);
}
