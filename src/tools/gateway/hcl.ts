// Reads Terraform's HCL into entries: blocks, attributes and literals. Expressions stay text.
//
//   resource "aws_wafv2_web_acl" "api" {        { resource: [{ labels: [aws_wafv2_web_acl, api], rule: [{ … }] }] }
//     rule { limit = 2000 }
//     count = var.on ? 1 : 0                     an expression
//   }
//
// Source: the HCL native syntax specification of hashicorp/hcl. No npm package keeps the lines.
import { entryOf, type TreeEntry } from './document.js';
import { type Source, SyntaxFault } from './found.js';

interface Token {
  readonly text: string;
  readonly kind: 'word' | 'string' | 'sign' | 'end' | 'newline';
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

const TOKEN =
  /\n|[^\S\n]+|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/|<<-?(\w+)\r?\n[\s\S]*?\n[^\S\n]*\1(?=\s|$)|"(?:\\.|[$%]\{(?:"(?:\\.|[$%]\{(?:"(?:\\.|[^"\\])*"|[^"{}])*\}|[^"\\])*"|\{[^{}]*\}|[^"{}])*\}|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_][\w.-]*|[\s\S]/g;

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const match of text.matchAll(TOKEN)) {
    const [found] = match;
    const from = match.index;
    const isComment = /^(?:#|\/\/|\/\*)/.test(found);
    const kind =
      found === '\n'
        ? 'newline'
        : /^(?:"|<<-?\w)/.test(found)
          ? 'string'
          : /^[-\w]/.test(found) && found !== '-'
            ? 'word'
            : 'sign';
    if (!isComment && (found === '\n' || found.trim() !== ''))
      tokens.push({ text: found, kind, line, from, to: from + found.length });
    line += found.split('\n').length - 1;
  }
  tokens.push({ text: '', kind: 'end', line, from: text.length, to: text.length });
  return tokens;
}

/** @throws SyntaxFault */
export function hclOf({ name: file, text }: Source): TreeEntry {
  return new HclReader(file, text).body('');
}

const MOST_DEPTH = 200;

class HclReader {
  readonly #tokens: readonly Token[];
  #place = 0;
  #depth = 0;

  constructor(
    readonly file: string,
    readonly text: string,
  ) {
    this.#tokens = tokensOf(text);
  }

  get #token(): Token {
    return this.#tokens[this.#place]!;
  }

  #take(): Token {
    const token = this.#token;
    if (token.kind !== 'end') this.#place += 1;
    return token;
  }

  #lines(): void {
    while (this.#token.kind === 'newline') this.#place += 1;
  }

  body(end: '' | '}'): TreeEntry {
    const { line } = this.#token;
    const fields = new Map<string, TreeEntry>();
    for (this.#lines(); this.#token.text !== end || (end === '' && this.#token.kind !== 'end'); this.#lines()) {
      const name = this.#take();
      if (name.kind !== 'word')
        throw new SyntaxFault(
          name.line,
          name.kind === 'end' ? 'a block is not closed' : `${name.text} is not the name of an attribute or block`,
        );
      const labels: string[] = [];
      while (this.#token.kind === 'string' || this.#token.kind === 'word') labels.push(unquoted(this.#take().text));
      const sign = this.#take();
      if (sign.text === '=' && labels.length === 0) fields.set(name.text, { ...this.#value(), line: name.line });
      else if (sign.text === '{') {
        const inner = this.#deeper(() => this.body('}'));
        const entry = (given: Partial<TreeEntry>) => entryOf(this.file, name.line, given);
        const label = ['', entry({ items: labels.map((value) => entry({ value })) })] as const;
        const block = entry({ fields: new Map([...(labels.length === 0 ? [] : [label]), ...inner.fields]) });
        const before = fields.get(name.text);
        fields.set(
          name.text,
          entryOf(this.file, before?.line ?? name.line, { items: [...(before?.items ?? []), block] }),
        );
      } else throw new SyntaxFault(sign.line, `${name.text} has neither a value nor a block`);
    }
    this.#take();
    return entryOf(this.file, line, { fields });
  }

  #deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MOST_DEPTH) throw new SyntaxFault(this.#token.line, `it is more than ${MOST_DEPTH} blocks deep`);
    const found = read();
    this.#depth -= 1;
    return found;
  }

  #value(): TreeEntry {
    const from = this.#place;
    const simple = this.#deeper(() => this.#simple());
    if (simple !== undefined && isEnd(this.#token)) return simple;
    this.#place = from;
    return this.#expression();
  }

  #simple(): TreeEntry | undefined {
    const { kind, text, line } = this.#token;
    if (text === '[') return this.#list();
    if (text === '{') return this.#object();
    if (kind === 'string') {
      this.#take();
      const textLine = text.startsWith('<<') ? line + 1 : line;
      if (/\$\{|%\{/.test(text)) return entryOf(this.file, line, { expression: unquoted(text), textLine });
      return entryOf(this.file, line, { value: unquoted(text), textLine });
    }
    if (kind !== 'word') return undefined;
    this.#take();
    if (text === 'true' || text === 'false') return entryOf(this.file, line, { value: text === 'true' });
    if (text === 'null') return entryOf(this.file, line, {});
    return /^-?\d/.test(text) ? entryOf(this.file, line, { value: Number(text) }) : undefined;
  }

  #list(): TreeEntry | undefined {
    const { line } = this.#take();
    const items: TreeEntry[] = [];
    for (this.#lines(); this.#token.text !== ']'; this.#lines()) {
      if (this.#token.kind === 'end') throw new SyntaxFault(line, 'a list is not closed');
      if (this.#token.text === 'for') return undefined;
      items.push(this.#value());
      this.#lines();
      if (this.#token.text === ',') this.#take();
    }
    this.#take();
    return entryOf(this.file, line, { items });
  }

  #object(): TreeEntry | undefined {
    const { line } = this.#take();
    const fields = new Map<string, TreeEntry>();
    for (this.#lines(); this.#token.text !== '}'; this.#lines()) {
      const name = this.#take();
      if (name.kind === 'end') throw new SyntaxFault(line, 'an object is not closed');
      if (name.text === 'for' || name.text === '(') return undefined;
      const sign = this.#take();
      if (sign.text !== '=' && sign.text !== ':') return undefined;
      fields.set(unquoted(name.text), { ...this.#value(), line: name.line });
      if (this.#token.text === ',') this.#take();
    }
    this.#take();
    return entryOf(this.file, line, { fields });
  }

  #expression(): TreeEntry {
    const first = this.#token;
    if (isEnd(first)) throw new SyntaxFault(first.line, 'a value is missing');
    let depth = 0;
    let last = first;
    while (this.#token.kind !== 'end' && !(depth === 0 && isEnd(this.#token))) {
      last = this.#take();
      if ('([{'.includes(last.text)) depth += 1;
      if (')]}'.includes(last.text)) depth -= 1;
    }
    return entryOf(this.file, first.line, { expression: this.text.slice(first.from, last.to).replace(/\s+/g, ' ') });
  }
}

const isEnd = ({ kind, text }: Token) =>
  kind === 'newline' || kind === 'end' || text === ',' || text === '}' || text === ']';

function unquoted(text: string): string {
  if (text.startsWith('<<')) return text.split('\n').slice(1, -1).join('\n');
  if (!text.startsWith('"')) return text;
  return text.slice(1, -1).replace(/\\(["\\nt])/g, (_, sign: string) => ({ n: '\n', t: '\t' })[sign] ?? sign);
}
