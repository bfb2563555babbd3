// Owns the way from the text of a scenario file to a value, and from a place in the value back to a line of the file.
import { type Document, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { Failure, type Fault } from '../core/failure.js';

/** A file that was read: its value, and where each part of it stands. */
export interface ScenarioDocument {
  readonly value: unknown;
  /** Faults with `line 3, column 7` in front of the JSON pointer. */
  located(faults: readonly Fault[]): Fault[];
}

/**
 * Reads YAML 1.2, of which JSON is a part.
 * @param name of the file, for failures
 * @throws Failure `invalid_yaml` with line and column
 */
export function readDocument(text: string, name: string): ScenarioDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, maxAliasCount: 100 } as object);
  if (document.errors.length > 0) {
    const faults = document.errors.map(({ pos: [offset], message }) => {
      const { line, col } = lines.linePos(offset);
      return { path: `line ${line}, column ${col}`, message: firstSentence(message) };
    });
    throw new Failure('invalid_yaml', {
      what: `${name} cannot be read.`,
      why: `${faults[0]?.path}: ${faults[0]?.message}.`,
      fix: 'Mend the place named; `weir init` writes a scenario that holds.',
      faults,
    });
  }
  return {
    value: readValue(document, name),
    located: (faults) =>
      faults.map(({ path, message }) => {
        const offset = offsetOf(document, path);
        if (offset === undefined) return { path, message };
        const { line, col } = lines.linePos(offset);
        return { path: `line ${line}, column ${col} (${path})`, message };
      }),
  };
}

function readValue(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new Failure('invalid_yaml', {
      what: `${name} cannot be read.`,
      why: `${firstSentence((error as Error).message)}.`,
      fix: 'Write the values out instead of referring to them.',
    });
  }
}

/** Where the key, or the entry, to which a JSON pointer points begins; for one that is missing, where it should be. */
function offsetOf(document: Document, pointer: string): number | undefined {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let node: unknown = document.contents;
  let offset = (node as Node | null)?.range?.[0];
  for (const step of steps) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === step);
      if (pair === undefined) return offset;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = isPair(pair) ? pair.value : undefined;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function firstSentence(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/[.:]$/, '');
}
