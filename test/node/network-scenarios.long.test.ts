// Three nodes over one Redis, random schedules, a node killed in each: every decision is that of one limiter, the chain holds, no row is lost.
// WEIR_SCENARIOS says how many; few by default, since each starts a process. WEIR_FIRST_SCENARIO is the number of the first.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { type Serving, serve } from '../cli/command-line.js';
import { NaiveLimiter, type NaiveTransition } from '../core/limiter/naive-limiter.js';
import { verifyExport } from '../core/record/verifying.js';
import { afterFile } from '../left-behind.js';
import { type Caller, gateOf, Holder, type Told } from './caller.js';
import { hasRedis, RedisServer } from './network/redis/server.js';

const SCENARIOS = Number(process.env['WEIR_SCENARIOS'] ?? 3);
const FIRST = Number(process.env['WEIR_FIRST_SCENARIO'] ?? 0);
const CYCLE_MS = 60;

/** What a node said of one request. */
interface Said {
  readonly cycle: number;
  readonly count: number;
  readonly isAdmitted: boolean;
}

let server: RedisServer;
let owner: Caller;
const nodes: Promise<Serving>[] = [];
const fingerprints: string[] = [];
/** Nodes that ended though nobody here killed them. */
const ended: string[] = [];

beforeAll(async () => {
  if (!hasRedis) return;
  server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'everysec');
  nodes.push(startNode());
  await nodes[0];
  nodes.push(startNode(), startNode(), startNode());
  owner = await Holder.minted((await nodes[0]!).url);
});

afterAll(() => Promise.allSettled(nodes));

async function startNode(): Promise<Serving> {
  const args = ['--store', `${server.url}?deadline_ms=20000`, '--cycle-ms', `${CYCLE_MS}`, '--log-level', 'silent'];
  const node = await serve(args, {}, afterFile);
  void node.ended.then((code) => {
    if (!node.child.killed) ended.push(`node ${node.pid} ended with ${code}: ${node.errors()}`);
  });
  fingerprints.push(node.fingerprint);
  return node;
}

/** A small generator with a seed: the same scenario again by its number. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) | 0;
    return (state >>> 0) % below;
  };
}

/**
 * What one limiter would have done, if so many requests without an answer were counted in these cycles.
 * @returns undefined where that is not what the nodes said
 */
function explained(
  said: readonly Said[],
  unknown: readonly number[],
  threshold: number,
  within: number,
  first: number,
): readonly NaiveTransition[] | undefined {
  const model = new NaiveLimiter(threshold, within, first);
  const cycles = [...new Set([...said.map(({ cycle }) => cycle), ...unknown])].sort((a, b) => a - b);
  for (const cycle of cycles) {
    model.advance(cycle);
    let left = unknown.filter((one) => one === cycle).length;
    for (const { count, isAdmitted } of said.filter((one) => one.cycle === cycle)) {
      for (; left > 0 && model.count + 1 < count; left -= 1) model.decide(1, cycle);
      const { admitted } = model.decide(1, cycle);
      if (model.count !== count || admitted !== (isAdmitted ? 1 : 0)) return undefined;
    }
    if (left > 0) model.decide(left, cycle);
  }
  model.advance(model.cycle + within);
  return model.transitions;
}

/** All ways in which requests may have counted in one of their cycles, or not. */
function* guesses([first, ...others]: readonly (readonly number[])[]): Generator<number[]> {
  if (first === undefined) yield [];
  else
    for (const rest of guesses(others)) {
      yield rest;
      for (const cycle of first) yield [...rest, cycle];
    }
}

/** Cycles behind that of the sending that are looked at, by the number of requests without an answer: all within the deadline of one. */
const LOOKED_AT = [0, 340, 80, 24];

async function play(seed: number): Promise<void> {
  const random = randomOf(seed + 1);
  const three = await Promise.all(nodes.slice(0, 3));
  const slug = `s-${seed}`;
  const threshold = 1 + random(20);
  const within = 2 + random(12);
  const at = (index: number) => owner.at(three[index]!);
  await at(0).createMachine(slug, true);
  const { contract } = (await at(1).tryDeploy(slug, { threshold, within })).body;
  const path = gateOf(slug, contract.id);
  const said: Said[] = [];
  const victim = random(3);
  const steps = 40 + random(60);
  const killAt = 10 + random(steps - 20);
  /** Of each request without an answer, the newest cycle that was heard of when it was sent. */
  const unanswered: number[] = [];
  const now = () => said.reduce((newest, { cycle }) => Math.max(newest, cycle), contract.created_cycle as number);
  const send = async (index: number) => {
    const count = steps;
    for (let step = 0; step < count; step += 1) {
      if (index === victim && step === killAt) {
        // In the middle of a request.
        const since = now();
        const asked = at(index)
          .post(path)
          .then(
            (answer) => heard(answer, since),
            () => void unanswered.push(since),
          );
        if (random(2) === 0) await pause(random(4));
        three[index]!.child.kill('SIGKILL');
        await asked;
        return;
      }
      const since = now();
      heard(await at(index).post(path), since);
      await pause(random(3) === 0 ? random(2 * CYCLE_MS) : random(6));
    }
  };
  const heard = ({ status, body: { cycle, count, ok, detail, code } }: Told, since: number) => {
    // Refused before it was counted.
    if (code === 'node_overloaded') return;
    if (status === 503) {
      unanswered.push(since);
      return;
    }
    expect([200, 429], `${ok} ${detail}`).toContain(status);
    said.push({ cycle, count, isAdmitted: status === 200 });
  };
  await Promise.all([0, 1, 2].map(send));
  nodes.splice(victim, 1);
  nodes.push(startNode());
  said.sort((a, b) => a.cycle - b.cycle || a.count - b.count);
  expect(unanswered.length, 'requests without an answer').toBeLessThan(LOOKED_AT.length);
  // Redis may take up what a killed node had sent a good while later, where the machine is busy.
  const length = LOOKED_AT[unanswered.length]!;
  const around = unanswered.map((since) => Array.from({ length }, (_, index) => since - 1 + index));
  const possible: (readonly NaiveTransition[])[] = [];
  for (const unknown of guesses(around)) {
    const transitions = explained(said, unknown, threshold, within, contract.created_cycle);
    if (transitions !== undefined) possible.push(transitions);
  }
  const found = () => JSON.stringify({ seed, threshold, within, unanswered, said });
  expect(possible.length, `wrong decisions: ${possible.length > 0 ? '' : found()}`).toBeGreaterThan(0);
  const other = at((victim + 1) % 3);
  await pause((within + 3) * CYCLE_MS);
  const moves = async () => {
    const rows = await other.rows(slug, 'kind=transition&limit=250');
    return rows.map(({ cycle, to, inputs }) => ({ cycle, to, count: inputs.S }));
  };
  let rows = await moves();
  for (let tries = 0; tries < 100 && rows.at(-1)?.to === 'limiting'; tries += 1) {
    await pause(CYCLE_MS);
    rows = await moves();
  }
  expect(possible, `rows of scenario ${seed}`).toContainEqual(rows);
  const text = await other.exported(slug);
  expect(verifyExport(text, { nodes: fingerprints }), `chain of scenario ${seed}`).toMatchObject({ valid: true });
}

describe.skipIf(!hasRedis)('three nodes, one killed (needs redis-server)', () => {
  it(`three nodes, one killed, decide as one in ${SCENARIOS} scenarios`, { timeout: SCENARIOS * 60_000 }, async () => {
    for (let seed = FIRST; seed < FIRST + SCENARIOS; seed += 1)
      await play(seed).catch((error) => {
        throw new Error(`scenario ${seed}${ended.length > 0 ? `, and ${ended.join('; ')}` : ''}`, { cause: error });
      });
    expect(ended).toEqual([]);
  });
});
