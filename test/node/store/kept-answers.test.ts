import { expect, it } from 'vitest';
import { MemoryAnswers } from '../../../src/node/store/memory.js';
import { temporaryFolder } from '../../left-behind.js';
import { describeKeptAnswers } from '../../suite/kept-answers.js';
import { openStore } from './opened.js';

describeKeptAnswers('answers in memory', () => new MemoryAnswers());
describeKeptAnswers('answers on disk', () => openStore().answers);

it('answers on disk outlive the process, and are durable with the other writes of a commit or not at all', () => {
  const dir = temporaryFolder();
  const answer = { machine: 'edge', key: 'k', request: 'r', untilCycle: 1, answer: '{}' };
  const failing = openStore({ dir, failCommits: () => true });
  failing.answers.put(answer);
  failing.commit(() => {});
  failing.close();
  const next = openStore({ dir });
  expect(next.answers.find('edge', 'k')).toBeUndefined();
  next.answers.put(answer);
  next.close();
  expect(openStore({ dir }).answers.find('edge', 'k')).toEqual(answer);
});
