// The grammar of nginx: directives with words, line and block.
//
//   limit_req zone=api burst=20;          words, ended by a semicolon
//   location /api { … }                   words, and a block of directives
import { type Source, SyntaxFault } from './found.js';

export interface Directive {
  readonly file: string;
  readonly line: number;
  readonly words: readonly string[];
  readonly block: readonly Directive[] | undefined;
}

/** Words, braces and semicolons. Quotes and backslashes group characters; # begins a comment. */
const TOKEN =
  /#[^\n]*|"((?:\\[\s\S]|[^"\\])*)"|'((?:\\[\s\S]|[^'\\])*)'|["'{};]|(?:\$\{[^}]*\}|\\[\s\S]|[^\s{};"'\\])(?:\$\{[^}]*\}|\\[\s\S]|[^\s{;\\])*|\n/g;

const PROGRAM = /^\w+_by_lua_block$|^(?:perl|js_content)_block$/;

const MOST_DEPTH = 200;

/** @throws SyntaxFault */
export function directivesOf({ name: file, text }: Source): readonly Directive[] {
  const stack: Directive[][] = [[]];
  const opened: number[] = [];
  let [line, from] = [1, 1];
  let words: string[] = [];
  let inProgram = 0;
  for (const [token, double, single] of text.matchAll(TOKEN)) {
    if (inProgram > 0) {
      inProgram += (token.match(/\{/g)?.length ?? 0) - (token.match(/\}/g)?.length ?? 0);
      if (/\blimit\.(?:req|conn|count|traffic)\b|rate_?limit|throttl/i.test(token))
        stack.at(-1)!.push({ file, words: ['lua', token], line, block: undefined });
      line += token.split('\n').length - 1;
      if (inProgram <= 0) words = [];
    } else if (token === '{' && PROGRAM.test(words[0] ?? '')) inProgram = 1;
    else if (token === '"' || token === "'") throw new SyntaxFault(line, 'a quote is not closed');
    else if (token === '\n') line += 1;
    else if (token === ';' || token === '{') {
      const block: Directive[] | undefined = token === '{' ? [] : undefined;
      if (words.length > 0 || block !== undefined) stack.at(-1)!.push({ file, words, line: from, block });
      if (block !== undefined) {
        if (stack.length > MOST_DEPTH) throw new SyntaxFault(line, `it is more than ${MOST_DEPTH} blocks deep`);
        stack.push(block);
        opened.push(from);
      }
      words = [];
    } else if (token === '}') {
      if (words.length > 0) throw new SyntaxFault(from, `${words[0]} has no semicolon`);
      if (stack.length === 1) throw new SyntaxFault(line, 'a block is closed that was not opened');
      stack.pop();
      opened.pop();
    } else if (!token.startsWith('#')) {
      if (words.length === 0) from = line;
      words.push((double ?? single ?? token).replace(/\\(["'\\])/g, '$1'));
      line += token.split('\n').length - 1;
    }
  }
  if (words.length > 0) throw new SyntaxFault(from, `${words[0]} has no semicolon`);
  if (opened.length > 0) throw new SyntaxFault(opened.at(-1)!, 'a block is not closed');
  return stack[0]!;
}

export function flattened(directives: readonly Directive[]): Directive[] {
  return directives.flatMap((one) => [one, ...flattened(one.block ?? [])]);
}

/** `10m`, `64k` */
export function zoneBytes(size: string): number {
  const [, figure, unit = ''] = /^(\d+)([km]?)$/i.exec(size) ?? ['', '0'];
  return Number(figure) * { '': 1, k: 1024, m: 1_048_576 }[unit.toLowerCase()]!;
}
