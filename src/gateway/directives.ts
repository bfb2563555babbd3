// The grammar of nginx: directives, each with its words, its line, and its block.
//
//   limit_req zone=api burst=20;          words, ended by a semicolon
//   location /api { … }                   words, and a block of directives
import type { Source } from './found.js';

export interface Directive {
  readonly file: string;
  readonly line: number;
  readonly words: readonly string[];
  /** Undefined for one that ends with a semicolon. */
  readonly block: readonly Directive[] | undefined;
}

/** A text that is not of the grammar. */
export class GrammarFault extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

/** Words, braces and semicolons. Quotes and a backslash keep what they hold together; # begins a comment. */
const TOKEN = /#[^\n]*|"((?:\\[\s\S]|[^"\\])*)"|'((?:\\[\s\S]|[^'\\])*)'|[{};]|(?:\$\{[^}]*\}|\\.|[^\s{};"'\\])+|\n/g;

const MOST_DEPTH = 200;

/** @throws GrammarFault */
export function directivesOf({ name: file, text }: Source): readonly Directive[] {
  const stack: Directive[][] = [[]];
  const opened: number[] = [];
  let [line, from] = [1, 1];
  let words: string[] = [];
  for (const [token, double, single] of text.matchAll(TOKEN)) {
    if (token === '\n') line += 1;
    else if (token === ';' || token === '{') {
      const block: Directive[] | undefined = token === '{' ? [] : undefined;
      if (words.length > 0 || block !== undefined) stack.at(-1)!.push({ file, words, line: from, block });
      if (block !== undefined) {
        if (stack.length > MOST_DEPTH) throw new GrammarFault(line, `it is more than ${MOST_DEPTH} blocks deep`);
        stack.push(block);
        opened.push(from);
      }
      words = [];
    } else if (token === '}') {
      if (words.length > 0) throw new GrammarFault(from, `${words[0]} has no semicolon`);
      if (stack.length === 1) throw new GrammarFault(line, 'a block is closed that was not opened');
      stack.pop();
      opened.pop();
    } else if (!token.startsWith('#')) {
      if (words.length === 0) from = line;
      words.push(double ?? single ?? token);
      line += token.split('\n').length - 1;
    }
  }
  if (words.length > 0) throw new GrammarFault(from, `${words[0]} has no semicolon`);
  if (opened.length > 0) throw new GrammarFault(opened.at(-1)!, 'a block is not closed');
  return stack[0]!;
}

/** The directives of a block and of all blocks in it. */
export function flattened(directives: readonly Directive[]): Directive[] {
  return directives.flatMap((one) => [one, ...flattened(one.block ?? [])]);
}
