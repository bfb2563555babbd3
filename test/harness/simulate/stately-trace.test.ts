// The lines that Stately's inspector is given, held to the types of its protocol (StatelyInspectionEvent of @statelyai/inspect 0.7.1).
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { statelyTrace } from '../../../src/harness/simulate/stately-trace.js';
import { run } from './running.js';

const closed = { additionalProperties: false } as const;
const text = Type.String({ minLength: 1 });
/** StatelyBaseInspectionEvent. */
const base = {
  rootId: text,
  sessionId: text,
  createdAt: Type.String({ pattern: '^[0-9]+$' }),
  id: text,
  _version: Type.String({ pattern: '^0\\.7\\.' }),
};
const Event = Type.Object({ type: text }, { additionalProperties: true });
const Snapshot = Type.Object({ status: Type.Literal('active') }, { additionalProperties: true });
const protocol = Compile(
  Type.Union([
    Type.Object(
      {
        ...base,
        type: Type.Literal('@xstate.actor'),
        name: text,
        snapshot: Snapshot,
        definition: text,
        parentId: Type.Optional(text),
      },
      closed,
    ),
    Type.Object({ ...base, type: Type.Literal('@xstate.event'), event: Event, sourceId: Type.Optional(text) }, closed),
    Type.Object({ ...base, type: Type.Literal('@xstate.snapshot'), event: Event, snapshot: Snapshot }, closed),
  ]),
);

const scenario =
  'question: Q?\nduration: 2\ndrain: 5\nlimiter: { threshold: 1, within: 2 }\narrivals: [{ model: counts, counts: [2, 0], placement: start }]\nclients: [{ kind: obedient, name: phone }]\nservice: { time: 10ms }\n';

async function linesOf(text: string): Promise<string[]> {
  const lines: string[] = [];
  const trace = statelyTrace((line) => lines.push(line));
  await run(text, { inspect: trace });
  return lines;
}

it('a trace for Stately has lines of its protocol, in which an actor is there before it is spoken of', async () => {
  const lines = await linesOf(scenario);
  const known = new Set<string>();
  for (const line of lines) {
    const event = JSON.parse(line);
    expect([line, protocol.Check(event)]).toEqual([line, true]);
    if (event.type === '@xstate.actor') known.add(event.sessionId);
    expect([...known]).toEqual(expect.arrayContaining([event.sessionId]));
    if (event.sourceId !== undefined) expect(known).toContain(event.sourceId);
    if (event.parentId !== undefined) expect(known).toContain(event.parentId);
  }
  expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(lines.length);
});

it('a trace for Stately names real senders, and the machines of contracts and clients', async () => {
  const events = (await linesOf(scenario)).map((line) => JSON.parse(line));
  const sent = events.flatMap(({ type, sourceId, sessionId, event }) =>
    type === '@xstate.event' ? [`${sourceId} -> ${sessionId}: ${event.type}`] : [],
  );
  expect(sent.slice(0, 6)).toEqual([
    'arrivals -> phone/0: job',
    'phone/0 -> contract all: request',
    'arrivals -> phone/1: job',
    'gate -> contract all: aggregate',
    'phone/1 -> contract all: request',
    'contract all -> phone/1: limited',
  ]);
  expect(sent).toContain('service -> phone/0: served');
  expect(sent).toContain('agenda -> phone/1: wake');
  const definitions = new Map(
    events.flatMap(({ type, name, definition }) =>
      type === '@xstate.actor' ? [[name, JSON.parse(definition)] as const] : [],
    ),
  );
  expect(Object.keys(definitions.get('contract all').states)).toEqual(['allowing', 'limiting']);
  expect(Object.keys(definitions.get('phone/0').states)).toEqual(['idle', 'asking', 'pausing']);
  expect(JSON.stringify(events)).not.toContain('weir.say');
});

it('a trace for Stately is the same for the same seed', async () => {
  expect(await linesOf(scenario)).toEqual(await linesOf(scenario));
});
