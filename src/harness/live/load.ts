// The live arm of a scenario: sends the simulation's requests to a target, and compares both.
//
//   scenario, seed ─► schedule or clients ─► target ─► what arrived, what was decided ─┐
//                                                            └─► the model on it ──────┴─► agrees, node differs, run invalid

import { setMaxListeners } from 'node:events';
import { last, lastValueFrom, map, type Observable, type OperatorFunction, pipe } from 'rxjs';
import type { Plan } from '../../core/limiter/plan.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import type { Seed } from '../../core/math/seed.js';
import { assert, Failure } from '../../core/schema/failure.js';
import { toolNamed } from '../../core/schema/optional-package.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { CostPlan } from '../scenario/cost-plan.js';
import { checkLoaded, type LoadedScenario } from '../scenario/loaded-scenario.js';
import { streamed } from '../simulate/run.js';
import { hasPlaces, scheduleOf, trafficOf } from '../simulate/scenario-traffic.js';
import { controlRun } from '../simulate/simulate.js';
import type { AnswerTally } from './answer-tally.js';
import { type Connection, type ConnectionOptions, connectTo } from './connection.js';
import type { Generators, LoadsElsewhere } from './elsewhere.js';
import { type EmbeddedNode, startEmbeddedNode } from './embedded-node.js';
import { liveClients } from './live-clients.js';
import { type LiveRun, type LiveRunOptions, runLive } from './live-run.js';
import { pacedSender, upTo } from './paced-sender.js';
import { type LoadResult, resultOf } from './result.js';
import type { Sending, Stage } from './sending.js';
import { warmUpSender } from './warm-up.js';
import { GATED, mintAt } from './weir-target.js';

export interface LiveOptions extends Omit<ConnectionOptions, 'headers' | 'cycleMs'> {
  /** A Weir node, or any HTTP service with a `target` in the scenario. Default: a node is started for the run. */
  readonly url?: string | undefined;
  /** Of the started node, or of a service that does not report it. Default: that of the scenario. */
  readonly cycleMs?: number | undefined;
  /** A key of the node; default: a new one is minted. */
  readonly key?: string | undefined;
  /** Number of contracts listed in the outcomes. Default: 100. */
  readonly top?: number | undefined;
}

export interface LoadOptions extends LiveOptions {
  readonly seed?: Seed | undefined;
  /** Requests keep the instants of the model of arrivals, not their cycles alone. Default: if a rule decides, which does so by the ms. */
  readonly byInstants?: boolean | undefined;
  /** Replaces the arrivals of the scenario by a closed loop with this many requests in flight. */
  readonly closedLoop?: number | undefined;
  /** Ends the schedule after this many. Default: its own end. */
  readonly requests?: number | undefined;
  readonly answers?: AnswerTally | undefined;
  /** Any of these may explain the answers, and some request has to be refused. Default: the rule of the limiter. */
  readonly rules?: readonly RuleDefinition[] | undefined;
  /** The Redis of `weir worker` processes that send in place of this one. */
  readonly workers?: { readonly redis: string } | undefined;
}

/**
 * Sends the requests of a scenario to a target: a row for each closed cycle. Each subscription is a separate run; the signal or
 * unsubscribing ends it early. After the signal, `toResult()` gives the result so far.
 * Errors: Failure `invalid_input` for a scenario that cannot run live, `node_unreachable`, `answer_unreadable`, `remote_not_allowed`,
 *   `insecure_connection`, `key_unproved`, `wrong_usage`, and any refusal of the node
 */
export function load$(scenario: LoadedScenario, options: LoadOptions = {}): Observable<CycleRow<LoadRun>> {
  return rowsOfLive(options.signal, (onRow, signal) => sent(scenario, { ...options, signal }, onRow));
}

/** The result of `load$`. @throws Failure as `load$` */
export function load(scenario: LoadedScenario, options: LoadOptions = {}): Promise<LoadResult> {
  return lastValueFrom(load$(scenario, options).pipe(toResult()));
}

export interface LoadRun<Result extends LoadResult = LoadResult> extends LiveRun {
  /** Answers that arrive after the row of their cycle are in this alone. */
  result?: Result;
}

export function rowsOfLive<Result extends LoadResult>(
  signal: AbortSignal | undefined,
  live: (onRow: (row: CycleRow<LoadRun<Result>>) => void, stop: AbortSignal) => Promise<Result>,
): Observable<CycleRow<LoadRun<Result>>> {
  return streamed<CycleRow<LoadRun<Result>>>(async (next, stop) => {
    setMaxListeners(0, stop);
    let run: LoadRun<Result> | undefined;
    const result = await live((row) => {
      run = row.run;
      next(row);
    }, stop);
    assert(run !== undefined, 'a live run has a row');
    run.result = result;
  }, signal);
}

export function toResult<Result extends LoadResult>(): OperatorFunction<CycleRow<LoadRun<Result>>, Result> {
  return pipe(
    last(),
    map(({ run: { result } }) => {
      assert(result !== undefined, 'the rows of a live run complete with its result');
      return result;
    }),
  );
}

async function sent(
  scenario: LoadedScenario,
  options: LoadOptions,
  onRow: LiveRunOptions['onRow'],
): Promise<LoadResult> {
  checkLoaded(scenario);
  refuseWhatCannotRun(scenario);
  const { workers } = options;
  if (workers !== undefined) refuseWhatCannotBeShared(scenario, options);
  return connected(scenario, { ...options, isSender: workers === undefined }, async (connection) => {
    const live = scenario.at(connection.time.cycleMs);
    const { seed = live.seed, byInstants = live.plan.rule !== undefined, closedLoop: inFlight, requests } = options;
    const traffic = await trafficOf(live, seed);
    if (!hasPlaces(live, traffic.names))
      cannotRun(
        '/keyed/max_keys',
        `is less than the ${traffic.names.length} keys: who finds a place depends on the order of arrival`,
      );
    let generators: Generators | undefined;
    if (workers !== undefined) {
      const { openGenerators } = await toolNamed<LoadsElsewhere>('workers');
      const { path } = live.source;
      const { alsoUrls, allowRemote, insecure, connections, timeoutMs } = options;
      generators = await openGenerators(workers.redis, connection, {
        path,
        scenario: live.spec,
        seed,
        byInstants,
        requests,
        url: options.url ?? live.target?.url ?? '',
        connect: { alsoUrls, allowRemote, insecure, connections, timeoutMs },
        cycleMs: live.cycleMs,
      });
    }
    const loop = inFlight === undefined ? undefined : await import('./closed-loop.js');
    const closed = await loop?.closedLoop(connection, inFlight!);
    const sending = (stage: Stage): Sending => {
      if (generators !== undefined) return generators.sending(stage);
      if (closed !== undefined) return closed(stage);
      if (live.clients.length > 0) return liveClients(live, traffic, stage);
      return pacedSender(upTo(requests, scheduleOf(traffic, live)), stage, byInstants);
    };
    const { control } = live;
    const notes = [
      ...live.notes,
      ...traffic.notes,
      ...(loop === undefined ? [] : [loop.CLOSED_LOOP_NOTE]),
      ...(live.network === undefined ? [] : ['The network of the scenario is simulated only: the target has its own.']),
      ...(control === undefined ? [] : [`The control, ${control.name}, is simulated: it was not sent.`]),
    ];
    const asked: LiveRunOptions = { ...live, ...traffic, ...options, seed, byInstants, notes, onRow, sending };
    const seen = await runLive(connection, asked, generators).finally(() => generators?.close());
    return resultOf(seen, control && (await controlRun(control, { seed })));
  });
}

/** A key for several runs against the node at `url`, which limits new keys per address. @throws Failure as `load` */
export function mintKey(options: LiveOptions): Promise<string> {
  return connected({ cycleMs: CYCLE_MS, target: undefined }, options, (connection) =>
    mintAt(connection.nodes[0]!, options),
  );
}

export async function connected<T>(
  { cycleMs: ownCycleMs, target }: Pick<LoadedScenario, 'cycleMs' | 'target'>,
  options: LiveOptions & { readonly isSender?: boolean | undefined },
  body: (connection: Connection, node: EmbeddedNode | undefined) => Promise<T>,
): Promise<T> {
  const { url = target?.url, cycleMs = ownCycleMs } = options;
  if (url === undefined && target !== undefined) {
    throw new Failure('wrong_usage', {
      what: 'Nothing was sent.',
      why: 'The scenario has a target of its own, without an address.',
      fix: 'Give its address with --url, or as `url` of the target.',
    });
  }
  const { signal, isSender = true } = options;
  // The node has its own thread and starts about as slowly as the generator warms up. Workers warm up by themselves.
  const [node] = await Promise.all([
    url === undefined ? startEmbeddedNode(cycleMs) : undefined,
    isSender ? warmUpSender(signal) : undefined,
  ]);
  try {
    const connection = await connectTo(node?.url ?? url ?? '', {
      ...options,
      headers: target?.headers,
      cycleMs: target && cycleMs,
    });
    try {
      const askedMs = options.cycleMs ?? connection.time.cycleMs;
      if (url !== undefined && target === undefined && askedMs !== connection.time.cycleMs)
        throw new Failure('wrong_usage', {
          what: `--cycle-ms ${askedMs} has no effect: the node at ${connection.endpoint.origin} has cycles of ${connection.time.cycleMs} ms.`,
          fix: `Leave it out, or start the node with --cycle-ms ${askedMs}.`,
        });
      return await body(connection, node);
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error;
    const what = `Nothing was measured at ${url ?? 'the node'}.`;
    throw new Failure('stopped', { what, why: 'The run was stopped before it began.' });
  } finally {
    await node?.close();
  }
}

function refuseWhatCannotBeShared({ clients, target }: LoadedScenario, { url = target?.url }: LoadOptions): void {
  const refuse = (why: string, fix: string) => {
    throw new Failure('wrong_usage', { what: 'The load cannot be sent by workers.', why, fix });
  };
  if (url === undefined)
    refuse('They do not reach a node that is started for the run.', 'Give its address with --url.');
  if (clients.length > 0)
    refuse('Its clients wait for answers, each for its own, and cannot be cut into shares.', 'Leave --workers out.');
}

function refuseWhatCannotRun({ service, costs, faults, target, contracts, keyed, plan }: LoadedScenario): void {
  if (costs !== undefined) refuseCosts(costs, plan, target);
  if (service !== undefined) cannotRun('/service', 'is a model, and a live target has its own');
  if (faults.length > 0) cannotRun('/faults', 'are a model, and a live target has its own');
  if (target !== undefined && keyed !== undefined) cannotRun('/keyed', 'is for a node, and the target is none');
  if (target !== undefined && target.key_header === undefined && contracts > 1) {
    cannotRun('/contracts', 'cannot be distinguished at a target that is no node without a key_header');
  }
}

function refuseCosts({ charged }: CostPlan, { rule, kinds }: Plan, target: LoadedScenario['target']): void {
  if (target !== undefined)
    cannotRun('/costs', 'reach a node alone, whose gate takes ?n=: another target counts each request as 1');
  if (charged !== undefined)
    cannotRun(
      '/costs/charged',
      'is corrected when the cost is known, and a node cannot learn it later: it charges a request once, when it comes',
    );
  if (rule !== undefined && kinds[0]?.event !== GATED)
    cannotRun('/costs', `by a rule belong to a "${GATED}" at a gate: of another kind a node counts as many events`);
}

function cannotRun(path: string, message: string): never {
  throw new Failure('invalid_input', {
    what: 'The scenario cannot run live.',
    why: `${path.slice(1)} ${message}.`,
    fix: 'Leave it out, or run it with `weir simulate`.',
    faults: [{ path, message }],
  });
}
