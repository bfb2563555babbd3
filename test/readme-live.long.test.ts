// The page of live runs is executed, and prints what the README shows of the same run.
import { expect, it } from 'vitest';
import { blocksOf, LIVE_PAGE, patternOf, runsItsBlocks, textOf } from './pages.js';

const printed = runsItsBlocks(blocksOf(textOf(LIVE_PAGE)));

it('the README shows what its first line ends with, as the same scenario prints it at faster cycles', () => {
  const walked = blocksOf(textOf('README.md')).find(({ text }) => text.includes('npm ci'));
  expect(walked?.shown).toBeDefined();
  expect(printed.join('\n')).toMatch(patternOf(walked?.shown ?? ''));
});
