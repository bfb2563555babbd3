// Owns the way from the text of a scenario file to a value, and from a place in the value back to a line of the file.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { Failure, type Fault } from '../core/failure.js';

/** A file that was read: its value, and where each part of it stands. */
export interface ScenarioDocument {
  readonly value: unknown;
  /** Faults with `line 3, column 7` in front of the JSON pointer. */
  located(faults: readonly Fault[]): Fault[];
}

/** How often values may be referred to, all references inside of references counted: beyond it a short text is a huge value. */
const MOST_ALIASES = 100;

/**
 * Reads YAML 1.2, of which JSON is a part.
 * @param name of the file, for failures
 * @throws Failure `invalid_yaml` with line and column
 */
export function readDocument(text: string, name: string): ScenarioDocument {
  const lines = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  const document = parse(text, lines, name);
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) {
    throw refused(
      name,
      errors.map(({ pos: [offset], code, message }) => ({
        path: placeAt(offset),
        message: words[code] ?? firstSentence(message),
      })),
    );
  }
  return {
    value: readValue(document, name, placeAt),
    located: (faults) =>
      faults.map(({ path, message }) => {
        const offset = offsetOf(document, path);
        return { path: offset === undefined ? path : `${placeAt(offset)} (${path})`, message };
      }),
  };
}

/** What the library says where it speaks to a programmer. */
const words: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here: a file holds one scenario',
  TAB_AS_INDENT: 'a tab stands where blanks are needed: YAML indents with blanks',
  TAG_RESOLVE_FAILED: 'tags have no meaning in a scenario',
};

function parse(text: string, lineCounter: LineCounter, name: string): Document.Parsed {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false });
  } catch (error) {
    // The parser calls itself for each level: a text of nothing but brackets exhausts the stack.
    if (!(error instanceof RangeError)) throw error;
    throw refused(name, [{ path: 'line 1, column 1', message: 'it is nested too deeply' }]);
  }
}

function readValue(document: Document.Parsed, name: string, placeAt: (offset: number) => string): unknown {
  const around = selfReference(document.contents);
  if (around !== undefined) {
    throw refused(name, [{ path: placeAt(around), message: 'a value refers to itself' }]);
  }
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw refused(name, [
      { path: 'line 1, column 1', message: `more than ${MOST_ALIASES} references: write the values out instead` },
    ]);
  }
}

/** Where an alias stands inside the very value to which it refers. */
function selfReference(root: unknown): number | undefined {
  const open = new Set<string>();
  const visit = (node: unknown): number | undefined => {
    if (isAlias(node)) return open.has(node.source) ? (node.range?.[0] ?? 0) : undefined;
    if (!isMap(node) && !isSeq(node)) return undefined;
    const { anchor } = node;
    const isNew = anchor !== undefined && !open.has(anchor);
    if (isNew) open.add(anchor);
    const parts = isMap(node) ? node.items.flatMap(({ key, value }) => [key, value]) : node.items;
    for (const part of parts) {
      const found = visit(part);
      if (found !== undefined) return found;
    }
    if (isNew) open.delete(anchor);
    return undefined;
  };
  return visit(root);
}

/** Where the key, or the entry, to which a JSON pointer points begins; for one that is missing, where it should be. */
function offsetOf(document: Document.Parsed, pointer: string): number | undefined {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let node: unknown = document.contents;
  let offset = (node as Node | null)?.range?.[0];
  for (const step of steps) {
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
    fix: 'Mend the place named; `weir init` writes a scenario that holds.',
    faults,
  });
}

function firstSentence(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/[.:]$/, '');
}
