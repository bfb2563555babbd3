// A machine in the form that XState's tools write, posted to a node in place of a definition.
import { expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { contractMachine } from '../../src/weir.js';
import { probation } from '../core/limiter/defined.js';
import { startRunning } from './running.js';

const START_MS = 1_699_999_200_000;
let nowMs = START_MS;
const source = { wallMs: () => nowMs, monotonicMs: () => nowMs };

const node = await startRunning({ cycleMs: 777, source });
const owner = node.owner();
await owner.createMachine('m', true);

const post = (body: unknown) => owner.post('/api/chain/m/contracts', body);

it('a drawn machine is taken as a contract, which counts and moves as it is drawn', async () => {
  const { status, body } = await post(probation);
  expect([status, body.contract.currentState, body.contract.name]).toEqual([201, 'open', 'probation']);
  const gate = `/api/chain/m/contracts/${body.contract.id}/gate`;
  const states: string[] = [];
  for (const [cycle, n] of [3, 2, 0, 1, 1, 1, 0, 0].entries()) {
    nowMs = START_MS + cycle * 777;
    const told = n === 0 ? await owner.get(`${gate}?peek=1`) : await owner.post(`${gate}?n=${n}`);
    states.push(`${told.status} ${told.body.state}`);
  }
  expect(states).toEqual([
    ...['200 open', '429 shut', '429 shut', '200 probation'],
    ...['200 probation', '200 probation', '200 probation', '200 open'],
  ]);
});

it('what `state-machine` shows is taken as a contract, and the two decide alike', async () => {
  const first = await post(rateLimiter({ threshold: 2, within: 50 }));
  const shown = await node.ask('GET', `/api/chain/m/contracts/${first.body.contract.id}/state-machine`);
  const second = await post({ ...shown.body.machine, keyed: { max_keys: 3 } });
  expect([second.status, second.body.contract.threshold, second.body.contract.keyed.max_keys]).toEqual([201, 2, 3]);
  const { body } = await node.ask('GET', `/api/chain/m/contracts/${second.body.contract.id}/state-machine`);
  expect(decides(body.machine)).toEqual(decides(shown.body.machine));
  expect(body.machine).toEqual(JSON.parse(JSON.stringify(contractMachine(body.machine).config)));
});

// biome-ignore format: one case a line
it.each([
  ['a field that has no meaning', { ...probation, after: { 100: 'shut' } }, '/after'],
  ['a state that does not exist', { ...probation, initial: 'opn' }, '/initial'],
  ['an event to emit that has no name', { ...probation, states: { open: { on: { move: { target: 'open', actions: 'emit' } } } } }, '/states/open/on/move/actions/params/event'],
  ['a name that is no text, and null for further fields', { ...probation, id: 5, meta: { definition: null } }, '/id'],
  ['a version that is no text', { ...probation, version: 2 }, '/version'],
  ['tags that are no texts', { ...probation, states: { ...probation.states, open: { ...probation.states.open, tags: 5 } } }, '/states/open/tags'],
  ['further fields that are no object', { ...probation, meta: 5 }, '/meta'],
  ['a definition in them that is no object', { ...probation, meta: { definition: 5 } }, '/meta/definition'],
  ['a description that is no text', { ...probation, description: {} }, '/description'],
  ['a thousand transitions', { ...probation, states: { open: { on: { move: Array(1_000).fill('open') } } } }, '/states'],
])('a drawn machine with %s is refused, with its place', async (_, body, path) => {
  const told = await post(body);
  expect([told.status, told.body.code]).toEqual([400, 'invalid_definition']);
  expect(told.body.errors.map(({ path }: { path: string }) => path)).toContain(path);
});

/** All but what is said to readers. */
function decides(machine: object): object {
  return JSON.parse(JSON.stringify(machine, (field, value) => (field === 'description' ? undefined : value)));
}
