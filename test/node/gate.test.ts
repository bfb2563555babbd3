import { expect, it } from 'vitest';
import { gateOf, inTurn, statusAndCode, type Told } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { startRunning } from './running.js';

// A cycle longer than the test: counts are those of one cycle.
const node = await nodeOfFile({ cycleMs: 3_600_000 });
const owner = node.owner();
await owner.createMachine('gate');

async function newGate(parameters: object = {}): Promise<string> {
  return gateOf('gate', await owner.deploy('gate', parameters));
}

/** The status and the fields that a gateway reads. */
function read({ status, headers, body }: Told) {
  const limit = headers.get('ratelimit')?.replace(/t=[1-9]\d*/, 't=T');
  return [status, limit, headers.has('retry-after'), body.decision, body.count];
}

it('a gate tells the quota, and that nobody keeps its answer', async () => {
  const gate = await newGate({ threshold: 100, within: 60 });
  const { headers } = await owner.get(gate);
  expect([headers.get('ratelimit-policy'), headers.get('cache-control')]).toEqual([
    `"default";q=100;w=${60 * 3600}`,
    'no-store',
  ]);
});

it('a gate answers a limited request with the problem that is registered for it', async () => {
  const gate = await newGate({ threshold: 1, within: 1 });
  await owner.get(gate);
  const { headers, body } = await owner.get(gate);
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  const { cycle } = body;
  expect(body).toEqual({
    ok: false,
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    status: 429,
    detail: `The contract is limiting: its window holds 2 requests, and the threshold is 1. A request is admitted in ${headers.get('retry-after')} s (1 cycle) if nothing else arrives.`,
    code: 'too_many_requests',
    cycle,
    decision: 'limited',
    id: gate.split('/')[5],
    state: 'limiting',
    count: 2,
    threshold: 1,
    remaining: 0,
    retry_after_cycles: 1,
    'violated-policies': ['default'],
  });
});

it('a gate counts nothing when it is only looked at', async () => {
  const gate = await newGate({ threshold: 1, within: 1 });
  const queries = ['?peek=1', '?peek=true', '', '?peek=1', '?peek=0', '?peek'];
  const looks = await inTurn(queries, (query) => owner.get(gate + query));
  expect(looks.map(read)).toEqual([
    [200, '"default";r=1;t=0', false, 'admitted', 0],
    [200, '"default";r=1;t=0', false, 'admitted', 0],
    [200, '"default";r=0;t=T', false, 'admitted', 1],
    [429, '"default";r=0;t=T', true, 'limited', 1],
    [429, '"default";r=0;t=T', true, 'limited', 2],
    [429, '"default";r=0;t=T', true, 'limited', 2],
  ]);
});

it('a contract that counts no requests has no gate', async () => {
  const body = {
    name: 'valve',
    version: '1.0',
    states: { open: { initial: true }, shut: {} },
    transitions: [{ from: 'open', to: 'shut', operator: 'KO42' }],
  };
  const { body: told } = await owner.post('/api/chain/gate/contracts', body);
  expect(statusAndCode(await owner.get(gateOf('gate', told.contract.id)))).toEqual([422, 'unknown_event_type']);
});

it('a client that is alone is admitted after the wait that Retry-After says', async () => {
  // Moved by hand: on a busy machine two requests may be further apart than the window.
  let nowMs = Date.now();
  const quick = await startRunning({ cycleMs: 400, source: { wallMs: () => nowMs, monotonicMs: () => nowMs } });
  const owner = quick.owner();
  const gate = gateOf('gate', await owner.contractOn('gate', { threshold: 1, within: 2 }));
  await owner.get(gate);
  const limited = await owner.get(gate);
  nowMs += 1_000 * Number(limited.headers.get('retry-after'));
  const again = await owner.get(gate);
  expect([limited.status, limited.headers.get('retry-after'), again.status]).toEqual([429, '1', 200]);
});

it('a manual transition moves the contract, is on the record, and holds as long as it is told to', async () => {
  const gate = await newGate({ threshold: 5 });
  const path = gate.replace(/gate$/, 'transition');
  const moved = await owner.post(path, { to: 'limiting', hold_cycles: 3 });
  const looked = await owner.get(gate.replace(/\/gate$/, ''));
  const asked = await owner.get(gate);
  expect([moved.status, moved.body]).toEqual([
    200,
    {
      ok: true,
      previous_state: 'allowing',
      new_state: 'limiting',
      cycle: moved.body.cycle,
      seq: node.host.machines.get('gate')?.head.seq,
      hash: node.host.machines.get('gate')?.head.hash,
      master_equation_block: 'R(t) = S(t) * (1 + a * sin(2*pi*f*t))',
      proof_digest: null,
      emitted: ['rate_limited'],
    },
  ]);
  expect(looked.body.contract).toMatchObject({
    currentState: 'limiting',
    count: 0,
    remaining: 5,
    retry_after_cycles: 3,
    restores_in_cycles: 3,
    held_until_cycle: moved.body.cycle + 3,
    last_transitions: [{ to: 'limiting', cause: 'manual', hash: moved.body.hash }],
  });
  expect(asked.status).toBe(429);
});

it('a transition that a contract does not have is a conflict, and one whose condition is false is refused', async () => {
  const { operators } = (await owner.get('/api/operators')).body;
  const physics = operators.find(({ kind }: any) => kind === 'physics');
  const body = {
    name: 'valve',
    version: '1.0',
    states: { open: { initial: true }, shut: {} },
    transitions: [
      { from: 'open', to: 'shut', operator: 'KO42', fires_when: 'input.level >= 3' },
      { from: 'shut', to: 'open', operator: physics.id },
    ],
  };
  const { body: told } = await owner.post('/api/chain/gate/contracts', body);
  const path = `/api/chain/gate/contracts/${told.contract.id}/transition`;
  const asks = [
    { to: 'open' },
    { to: 'shut', input: { level: 2 } },
    { to: 'shut', input: { level: 3 } },
    { to: 'open' },
    { to: 'open', input: physics.cases[0].inputs },
  ];
  const answers = await inTurn(asks, (move) => owner.post(path, move));
  expect(answers.map(({ status, body: { code, new_state } }) => [status, code ?? new_state])).toEqual([
    [409, 'no_transition'],
    [422, 'condition_failed'],
    [200, 'shut'],
    [422, 'compute_failed'],
    [200, 'open'],
  ]);
  expect(answers[4]?.body.proof_digest).toMatch(/^[0-9a-f]{64}$/);
  const rows = await owner.rows('gate', `contract_id=${told.contract.id}`);
  const kinds = ['contract_created', 'transition', 'transition_failed', 'transition'];
  expect(rows.map(({ kind }) => kind)).toEqual(kinds);
});
