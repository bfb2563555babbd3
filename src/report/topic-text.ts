// Markdown as text for a terminal: headings, paragraphs, lists, tables and code, without addresses of links and without pictures.
import { lexer, type Token, type Tokens } from 'marked';
import { hued, type Terminal, wrapped } from './terminal-text.js';

export function pageText(page: string, terminal: Terminal): string {
  return lexer(page)
    .flatMap((block) => blockText(block, terminal) ?? [])
    .join('\n\n');
}

function blockText(block: Token, terminal: Terminal): string | undefined {
  const { columns } = terminal;
  switch (block.type) {
    case 'heading':
      return hued(wordsOf(block.tokens), 'strong', terminal);
    case 'code':
      return indented((block as Tokens.Code).text.split('\n')).join('\n');
    case 'list':
      return (block as Tokens.List).items
        .map(({ tokens }) => indented(wrapped(wordsOf(tokens), columns - 2), '- ').join('\n'))
        .join('\n');
    case 'table':
      return tableText(block as Tokens.Table, terminal).join('\n');
    case 'paragraph':
      return wrapped(wordsOf(block.tokens), columns).join('\n') || undefined;
    default:
      return undefined;
  }
}

function tableText({ header, rows }: Tokens.Table, terminal: Terminal): string[] {
  const names = rows.map(([first]) => wordsOf(first!.tokens));
  const width = Math.max(...names.map((name) => name.length));
  if (header.length === 2 && width <= 30)
    return rows.flatMap(([, said], row) => {
      const lines = wrapped(wordsOf(said!.tokens), terminal.columns - width - 4);
      return indented(lines, `  ${names[row]!.padEnd(width)}  `);
    });
  return rows.flatMap(([, ...cells], row) => [
    `  ${hued(names[row]!, 'strong', terminal)}`,
    ...cells.flatMap(({ tokens }, index) => {
      const head = wordsOf(header[index + 1]!.tokens);
      const said = `${head === '' || header.length === 2 ? '' : `${head}: `}${wordsOf(tokens)}`;
      return indented(wrapped(said, terminal.columns - 6), '    ', '      ');
    }),
  ]);
}

function indented(lines: readonly string[], first = '  ', further = ' '.repeat(first.length)): string[] {
  return lines.map((line, index) => `${index === 0 ? first : further}${line}`.trimEnd());
}

function wordsOf(tokens: readonly Token[] | undefined): string {
  const words = (tokens ?? []).map((token): string => {
    if (token.type === 'codespan') return token.raw;
    if (token.type === 'image') return '';
    if ('tokens' in token && token.tokens !== undefined) return wordsOf(token.tokens);
    return 'text' in token ? String(token.text) : '';
  });
  return words.join('').replace(/\s+/g, ' ').trim();
}
