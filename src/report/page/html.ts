// HTML templates: every value is escaped unless it is HTML already.
import { createHash } from 'node:crypto';
import { plain } from '../words.js';

export class Html {
  constructor(readonly text: string) {}
}

export type HtmlPart = Html | string | number | readonly HtmlPart[];

export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(texts.map((text, index) => (index === 0 ? text : asHtml(parts[index - 1]!) + text)).join(''));
}

function asHtml(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(asHtml).join('');
  return escaped(String(part));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For content and quoted attributes. Control characters become a dot. */
export function escaped(text: string): string {
  return plain(text).replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

export function unbroken(text: string): string {
  return text.replace(/(\d) (?=(ms|s|min|h|d|cycles?|%)(?![a-z]))/g, '$1\u00a0');
}

export function hashed(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** @param policy content security policy, with the hash of the style @param lines the body and the end of the file */
export function htmlDocument(title: string, policy: string, style: string, lines: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style></head><body><div class="page">`,
    ...lines,
  ].join('\n');
}

/** JSON for a script element: without `<`, and without the line separators that older browsers reject. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
