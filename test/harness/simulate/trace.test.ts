import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import type { ActorState } from '../../../src/harness/simulate/simulate.js';
import { simulate$ } from '../../../src/harness/simulate/simulate.js';
import { MOST_DRAWN, sequenceDiagram, type TracedMessage, traceInto } from '../../../src/harness/simulate/trace.js';
import { read } from '../scenario/reading.js';

async function traced(text: string, untilCycle?: number): Promise<{ messages: TracedMessage[]; states: ActorState[] }> {
  const messages: TracedMessage[] = [];
  const trace = traceInto((message) => messages.push(message));
  const { run } = await lastValueFrom(simulate$(read(text), { inspect: trace.inspect, untilCycle }));
  trace.end();
  return { messages, states: run.actors() };
}

const lineOf = ({ cycle, ms, from, to, event, before, after }: TracedMessage) =>
  `${cycle}+${ms} ${from} -> ${to}: ${event} (${before} -> ${after})`;

it('a trace without clients has what the gate says to the actor of the contract', async () => {
  const { messages } = await traced(
    'question: Q?\nduration: 3\nlimiter: { threshold: 1, within: 2 }\narrivals: [{ model: counts, counts: [1, 1, 0] }]\n',
  );
  expect(messages.map(lineOf)).toEqual([
    '1+0 gate -> contract all: aggregate (allowing -> limiting)',
    '2+0 gate -> contract all: aggregate (limiting -> allowing)',
  ]);
});

it('a trace is empty where nothing trips: the gate asks its actor only where a guard could hold', async () => {
  const { messages } = await traced(
    'question: Q?\nduration: 10\ndrain: 0\nlimiter: { threshold: 100, within: 60 }\narrivals: [{ model: constant, rate: 10 }]\n',
  );
  expect(messages).toEqual([]);
});

const text =
  'question: Q?\nduration: 2\ndrain: 5\nlimiter: { threshold: 1, within: 2 }\narrivals: [{ model: counts, counts: [2, 0], placement: start }]\nclients: [{ kind: obedient, name: phone }]\n';

it('a trace with clients has arrivals, requests, answers and alarms', async () => {
  const { messages } = await traced(text);
  expect(messages.map(lineOf)).toMatchInlineSnapshot(`
      [
        "0+0 arrivals -> phone/0: job (idle -> asking)",
        "0+0 phone/0 -> contract all: request ( -> admitted)",
        "0+0 contract all -> phone/0: served (asking -> idle)",
        "0+0 arrivals -> phone/0: job (idle -> asking)",
        "0+0 gate -> contract all: aggregate (allowing -> limiting)",
        "0+0 phone/0 -> contract all: request ( -> limited)",
        "0+0 contract all -> phone/0: limited (asking -> pausing)",
        "2+0 gate -> contract all: aggregate (limiting -> allowing)",
        "2+446 agenda -> phone/0: wake (pausing -> asking)",
        "2+446 phone/0 -> contract all: request ( -> admitted)",
        "2+446 contract all -> phone/0: served (asking -> idle)",
      ]
    `);
});

it('a run until a cycle shows every actor, its state, and what it waits for', async () => {
  const { states } = await traced(text, 1);
  expect(states).toMatchInlineSnapshot(`
      [
        {
          "actor": "contract all",
          "state": "limiting, count 2",
          "waiting": "wakes at cycle 2",
        },
        {
          "actor": "phone/0",
          "state": "pausing",
          "waiting": "job 2 after attempt 1, wakes at cycle 2 + 446 ms",
        },
      ]
    `);
});

it('a trace is drawn as a sequence diagram', async () => {
  const { messages } = await traced(text);
  expect(sequenceDiagram(messages)).toMatchInlineSnapshot(`
      "sequenceDiagram
        participant p0 as arrivals
        participant p1 as phone/0
        participant p2 as contract all
        participant p3 as gate
        participant p4 as agenda
        Note over p0: cycle 0
        p0->>p1: job: asking
        p1->>p2: request: admitted
        p2->>p1: served: idle
        p0->>p1: job: asking
        p3->>p2: aggregate: limiting
        p1->>p2: request: limited
        p2->>p1: limited: pausing
        Note over p3: cycle 2
        p3->>p2: aggregate: allowing
        p4->>p1: wake: asking
        p1->>p2: request: admitted
        p2->>p1: served: idle
      "
    `);
});

const message = { cycle: 0, ms: 0, from: 'a', to: 'b', event: 'e', before: 'x', after: 'x' };
it('a diagram leaves out what nobody reads, and says how much', () => {
  const lines = sequenceDiagram(Array.from({ length: MOST_DRAWN + 3 }, () => message))
    .trimEnd()
    .split('\n');
  expect([lines.filter((line) => line.includes('->>')).length, lines.at(-1)]).toEqual([
    MOST_DRAWN,
    '  %% and 3 more messages',
  ]);
});

it('a diagram is not broken by what names may hold', () => {
  expect(sequenceDiagram([{ ...message, from: 'contract a;b#c\nd', event: 'x;y' }])).toBe(
    'sequenceDiagram\n  participant p0 as contract a b c d\n  participant p1 as b\n  Note over p0: cycle 0\n  p0->>p1: x y\n',
  );
});
