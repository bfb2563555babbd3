import { afterEach, expect, it } from 'vitest';
import { MemoryAnswers } from '../../src/store/memory-answers.js';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite.js';
import { temporaryFolder } from '../left-behind.js';
import { describeKeptAnswers } from '../suite/kept-answers.js';

const open: SqliteStore[] = [];
function openStore(dir = temporaryFolder(), failCommits?: () => boolean): SqliteStore {
  const store = openSqliteStore({ dir, failCommits });
  open.push(store);
  return store;
}
afterEach(() => {
  for (const store of open.splice(0)) store.close();
});

describeKeptAnswers('answers in memory', () => new MemoryAnswers());
describeKeptAnswers('answers on disk', () => openStore().answers);

it('answers on disk outlive the process, and are durable with the other writes of a commit or not at all', () => {
  const dir = temporaryFolder();
  const answer = { machine: 'edge', key: 'k', request: 'r', untilCycle: 1, answer: '{}' };
  const failing = openStore(dir, () => true);
  failing.answers.put(answer);
  failing.commit(() => {});
  failing.close();
  const next = openStore(dir);
  expect(next.answers.find('edge', 'k')).toBeUndefined();
  next.answers.put(answer);
  next.close();
  expect(openStore(dir).answers.find('edge', 'k')).toEqual(answer);
});
