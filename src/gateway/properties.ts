// Reads properties of Java into entries.
//
//   spring.cloud.gateway.routes[0].id=orders        { spring: { cloud: { gateway: { routes: [{ id: orders }] } } } }
//
// Source: the documents of java.util.Properties, and Spring Boot's of names with indices.
import { entryOf, type TreeEntry } from './document.js';
import type { Source } from './found.js';

interface Node {
  readonly line: number;
  value?: string;
  readonly fields: Map<string, Node>;
}

export const looksLikeProperties = (text: string) => /^\s*spring\.cloud\.gateway\.[^\s:=]+\s*[=:]/m.test(text);

const MOST_PARTS = 50;

export function javaPropertiesOf({ name: file, text }: Source): TreeEntry {
  const root: Node = { line: 1, fields: new Map() };
  for (const { line, text: whole } of linesOf(text)) {
    const [, key = '', value = ''] = /^\s*([^#!\s:=](?:\\.|[^\s:=\\])*)\s*[=:]?\s*(.*)$/.exec(whole) ?? [];
    const parts = key.split(/\.|\[([^\]]*)\]/).filter((part) => part !== undefined && part !== '');
    if (parts.length === 0 || parts.length > MOST_PARTS) continue;
    let here = root;
    for (const part of parts) {
      const next = here.fields.get(part) ?? { line, fields: new Map() };
      here.fields.set(part, next);
      here = next;
    }
    here.value = value.replace(/\\(.)/g, '$1').trim();
  }
  return entered(file, root);
}

/** A backslash at its end continues a line. */
function linesOf(text: string): { readonly line: number; readonly text: string }[] {
  const lines: { line: number; text: string }[] = [];
  let isOpen = false;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const own = raw.replace(/\\$/, '');
    if (isOpen) lines.at(-1)!.text += own.trimStart();
    else lines.push({ line: index + 1, text: own });
    isOpen = /(?<!\\)(?:\\\\)*\\$/.test(raw);
  }
  return lines;
}

function entered(file: string, { line, value, fields }: Node): TreeEntry {
  const isList = fields.size > 0 && [...fields.keys()].every((name) => /^\d+$/.test(name));
  if (fields.size === 0) return entryOf(file, line, { value });
  const inner = [...fields].map(([name, one]) => [name, entered(file, one)] as const);
  if (!isList) return entryOf(file, line, { fields: new Map(inner) });
  return entryOf(file, line, { items: inner.sort(([a], [b]) => Number(a) - Number(b)).map(([, one]) => one) });
}
