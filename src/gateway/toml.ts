// Reads TOML into entries: tables, arrays of tables, dotted keys and values.
//
//   [http.middlewares.api.rateLimit]      { http: { middlewares: { api: { rateLimit: { average: 10 } } } } }
//     average = 10
//
// Source: toml.io, 1.0. Dates stay text. The package that keeps the lines, toml-eslint-parser, is made for linters, with all spaces and comments.
import { entryOf, type TreeEntry } from './document.js';
import { type Source, SyntaxFault } from './found.js';

interface Node {
  readonly line: number;
  readonly value?: string | number | boolean;
  readonly fields?: Map<string, Node>;
  readonly items?: Node[];
}

const MOST_DEPTH = 100;
const SPACE = /[^\S\n]*/y;
const BLANK = /(?:\s|#[^\n]*)*/y;
const KEY = /([\w-]+)|"((?:\\.|[^"\\\n])*)"|'([^'\n]*)'/y;
const TEXT =
  /"""\r?\n?((?:\\[\s\S]|(?!""")[^\\])*"{0,2})"""|'''\r?\n?((?:(?!''')[\s\S])*'{0,2})'''|"((?:\\.|[^"\\\n])*)"|'([^'\n]*)'/y;
const PLAIN = /\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]+|[^\s,\]}#"'[{=]+/y;

export const looksLikeToml = (text: string) => /^\s*\[\[?(?:http|entryPoints|frontends)[.\]]/m.test(text);

/** @throws SyntaxFault */
export function tomlOf({ name, text }: Source): TreeEntry {
  return new Reader(text).read(name);
}

class Reader {
  #at = 0;
  /** Lines up to a place that is never after `#at`. */
  #lines = 1;
  #read = 0;

  constructor(readonly text: string) {}

  read(file: string): TreeEntry {
    const root: Node = { line: 1, fields: new Map() };
    let table = root;
    for (this.#take(BLANK); this.#at < this.text.length; this.#take(BLANK)) {
      const [line, opening] = [this.#line, this.#take(/\[\[?/y)?.[0]];
      const keys = this.#keys();
      if (opening === undefined) {
        if (this.#take(/=/y) === undefined) throw new SyntaxFault(line, `${keys.join('.')} has no value`);
        this.#set(table, keys, { ...this.#value(0), line });
      } else {
        if (this.#take(opening === '[' ? /\]/y : /\]\]/y) === undefined)
          throw new SyntaxFault(line, 'a table is not closed');
        const above = this.#table(root, keys.slice(0, -1), line);
        table = opening === '[' ? this.#table(above, keys.slice(-1), line) : this.#appended(above, keys.at(-1)!, line);
      }
      this.#take(SPACE);
      if (this.#take(/#[^\n]*|\r?\n|$/y) === undefined) throw new SyntaxFault(line, 'the line goes on after its value');
    }
    return entered(file, root);
  }

  get #line(): number {
    for (; this.#read < this.#at; this.#read += 1) if (this.text[this.#read] === '\n') this.#lines += 1;
    return this.#lines;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #keys(): string[] {
    const keys: string[] = [];
    do {
      this.#take(SPACE);
      const found = this.#take(KEY);
      if (found === undefined) throw new SyntaxFault(this.#line, 'a name is missing');
      keys.push(found[1] ?? (found[2] === undefined ? found[3]! : unescaped(found[2])));
      this.#take(SPACE);
    } while (this.#take(/\./y) !== undefined);
    return keys;
  }

  /** The table with these names; of an array of tables the last. */
  #table(from: Node, keys: readonly string[], line: number): Node {
    let here = from;
    for (const key of keys) {
      const known = here.fields!.get(key);
      const next = known?.items?.at(-1) ?? known ?? { line, fields: new Map<string, Node>() };
      if (next.fields === undefined) throw new SyntaxFault(line, `${key} is not a table`);
      if (known === undefined) here.fields!.set(key, next);
      here = next;
    }
    return here;
  }

  #appended(above: Node, key: string, line: number): Node {
    const table: Node = { line, fields: new Map() };
    const known = above.fields!.get(key);
    if (known === undefined) above.fields!.set(key, { line, items: [table] });
    else if (known.items === undefined) throw new SyntaxFault(line, `${key} is not an array of tables`);
    else known.items.push(table);
    return table;
  }

  #set(table: Node, keys: readonly string[], value: Node): void {
    const above = this.#table(table, keys.slice(0, -1), value.line);
    if (above.fields!.has(keys.at(-1)!)) throw new SyntaxFault(value.line, `${keys.join('.')} is given twice`);
    above.fields!.set(keys.at(-1)!, value);
  }

  #value(depth: number): Node {
    this.#take(SPACE);
    const line = this.#line;
    if (depth > MOST_DEPTH) throw new SyntaxFault(line, `it is more than ${MOST_DEPTH} lists deep`);
    if (this.#take(/\[/y) !== undefined) {
      const items: Node[] = [];
      for (this.#take(BLANK); this.#take(/\]/y) === undefined; this.#take(BLANK)) {
        items.push(this.#value(depth + 1));
        this.#take(BLANK);
        if (this.#take(/,|(?=\])/y) === undefined) throw new SyntaxFault(this.#line, 'a list is not closed');
      }
      return { line, items };
    }
    if (this.#take(/\{/y) !== undefined) {
      const table: Node = { line, fields: new Map() };
      for (this.#take(BLANK); this.#take(/\}/y) === undefined; this.#take(BLANK)) {
        const [keys, at] = [this.#keys(), this.#line];
        if (this.#take(/=/y) === undefined) throw new SyntaxFault(at, `${keys.join('.')} has no value`);
        this.#set(table, keys, { ...this.#value(depth + 1), line: at });
        this.#take(BLANK);
        if (this.#take(/,|(?=\})/y) === undefined) throw new SyntaxFault(this.#line, 'a table is not closed');
      }
      return table;
    }
    const quoted = this.#take(TEXT);
    const [, long, longLiteral, short, literal] = quoted ?? [];
    if (quoted !== undefined)
      return {
        line,
        value: long === undefined && short === undefined ? (longLiteral ?? literal)! : unescaped(long ?? short!),
      };
    const plain = this.#take(PLAIN)?.[0];
    if (plain === undefined) throw new SyntaxFault(line, 'a value is missing or not closed');
    const number = Number(plain.replaceAll('_', ''));
    return { line, value: /^(?:true|false)$/.test(plain) ? plain === 'true' : Number.isNaN(number) ? plain : number };
  }
}

const signs: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r' };

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u(\w{4})|U(\w{8})|\s*\n\s*|([\s\S]))/g,
    (_, short?: string, long?: string, sign?: string) => {
      const code = Number.parseInt(short ?? long ?? '', 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : sign === undefined ? '' : (signs[sign] ?? sign);
    },
  );
}

function entered(file: string, { line, value, fields, items }: Node): TreeEntry {
  return entryOf(file, line, {
    ...(value !== undefined && { value }),
    ...(fields && { fields: new Map([...fields].map(([name, one]) => [name, entered(file, one)])) }),
    ...(items && { items: items.map((one) => entered(file, one)) }),
  });
}
