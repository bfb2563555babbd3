// Reads properties of Java into entries.
//
//   spring.cloud.gateway.routes[0].id=orders        { spring: { cloud: { gateway: { routes: [{ id: orders }] } } } }
//
// Source: the documents of java.util.Properties, and Spring Boot's of names with indices.
import { type TreeEntry, treeOf } from './document.js';
import type { Source } from './found.js';

export const looksLikeProperties = (text: string) => /^\s*spring\.cloud\.gateway\.[^\s:=]+\s*[=:]/m.test(text);

const MOST_PARTS = 50;

/** A line `#---` ends a document of Spring's. */
export function javaPropertiesOf({ name: file, text }: Source): TreeEntry[] {
  const lines = linesOf(text);
  const ends = lines.flatMap((one, i) => (/^[#!]---\s*$/.test(one.text) ? [i] : []));
  return [0, ...ends].map((from, i) => documentOf(file, lines.slice(from, ends[i])));
}

function documentOf(file: string, lines: ReturnType<typeof linesOf>): TreeEntry {
  return treeOf(
    file,
    lines.flatMap(({ line, text: whole }) => {
      const [, key = '', value = ''] = /^\s*([^#!\s:=](?:\\.|[^\s:=\\])*)\s*[=:]?\s*(.*)$/.exec(whole) ?? [];
      const names = key.split(/\.|\[(\D[^\]]*)\]|(?=\[)/).filter(Boolean);
      if (names.length === 0 || names.length > MOST_PARTS) return [];
      return [{ names, line, value: value.replace(/\\(.)/g, '$1').trim() }];
    }),
  );
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
