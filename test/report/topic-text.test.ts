import { expect, it } from 'vitest';
import { pageText } from '../../src/report/topic-text.js';

const terminal = { columns: 40, color: false, unicode: true };

// biome-ignore format: one case a line
it.each([
  ['a heading', '# Which *limit*', 'Which limit'],
  ['a paragraph, in lines of the width',
    'one two three four five six seven eight nine ten', 'one two three four five six seven eight\nnine ten'],
  ['a link and code', 'see [limits](limits.md) and `weir help`', 'see limits and `weir help`'],
  ['a picture', 'above\n\n![what it shows](x.png)\n\nbelow', 'above\n\nbelow'],
  ['a list', '- one two three four five six seven eight\n  nine\n- ten', '- one two three four five six seven\n  eight nine\n- ten'],
  ['code, as it is', '```sh\nweir help limits   # and a line that is longer than the terminal\n\nls\n```',
    '  weir help limits   # and a line that is longer than the terminal\n\n  ls'],
  ['names and what is said of them', '| name | |\n| - | - |\n| a | first |\n| longer | one two three four five six seven |',
    '  a       first\n  longer  one two three four five six\n          seven'],
  ['rows of more cells',
    '| when | what holds | by |\n| - | - | - |\n| it ends | nothing | `x.test` |', '  it ends\n    what holds: nothing\n    by: `x.test`'],
  ['an empty page', '', ''],
])('pageText makes text of %s', (_, page, text) => {
  expect(pageText(page, terminal)).toBe(text);
});

it('pageText marks headings where colour is on', () => {
  expect(pageText('# A', { ...terminal, color: true })).toBe('\u001b[1mA\u001b[22m');
});
