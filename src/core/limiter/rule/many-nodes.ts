// Several nodes that keep one limit together, each asked in turn. What a node decides by, when counts of the others arrive late:
//
//   exact         one place counts for all                 admits L in a window; each decision waits for a round trip, 2 * lag
//   batched       own counts at once, those of others      node a  |x x  x|xx   a request at s is known to the others from
//                 from the next sync, and a lag later              0     sync   (floor(s / sync) + 1) * sync + lag on
//   local_share   own counts only, against a share of L    admits floor(L / nodes) at a node, the first L mod nodes one more
//
// In a window batched admits at most L at each node and, at r requests per ms, some L + (nodes - 1) / nodes * r * (sync + lag).
// Every request counts, as in rolling_count. A partition cuts off the first nodes: batched syncs across it wait for its end, and under exact
// these nodes refuse (closed) or admit without counting (open). At a failover a replica replaces the counting node: under exact, the
// requests of the last replica lag are lost, up to L more in that window.
import type { Static } from 'typebox';
import { exact, whole } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { add, advance, eventsAt, cycleAt as presentOf, type Ring, ringOf } from '../window.js';
import { count, length, wait } from './fields.js';
import { multipleOf, periodsIn } from './periods.js';
import { copyOf, LIMITED, NEVER, type Rule } from './rule.js';

const Partition = exact('A time in which some nodes hear nothing of the others. Default: none.', {
  nodes: whole(1, 99, 'How many nodes are cut off from the others.'),
  from_ms: wait('When it begins, in ms since the beginning of the run.'),
  to_ms: wait('When it is over, in ms since the beginning of the run.'),
  'when_away?': Type.Enum(['closed', 'open'], {
    description: 'Under exact, whether nodes that are cut off refuse (closed) or admit. Default: closed.',
  }),
});

const Failover = exact('Under exact, a replica takes the place of the one that counts. Default: none.', {
  at_ms: wait('When it happens, in ms since the beginning of the run.'),
  replica_lag_ms: wait('How far the replica is behind, in ms: what came later is lost.'),
});

export const ManyNodesParams = exact({
  nodes: whole(1, 100, 'How many nodes there are.'),
  design: Type.Enum(['exact', 'batched', 'local_share'], {
    description: 'Whether one place counts, nodes exchange counts, or each has a share of the threshold to itself.',
  }),
  'threshold?': count('Requests that a window may hold, over all nodes. Default: 100.'),
  'within?': whole(1, 10_000, 'Length of the window in cycles. Default: 60.'),
  'cycle_ms?': length('Length of a cycle in ms. Default: 777.'),
  'sync_ms?': wait('Of batched: how often nodes send what they counted, in ms. Default: 0, at once.'),
  'lag_ms?': wait('How long a message takes, in ms. Default: 0.'),
  'spread?': Type.Enum(['even', 'one'], {
    description: 'Which nodes are asked: one after the other (even), or the first alone. Default: even.',
  }),
  'partition?': Partition,
  'failover?': Failover,
});

/** Requests of a node that others do not know before `atMs`, and across the partition not before `acrossMs`. */
interface Sent {
  readonly node: number;
  readonly cycle: number;
  readonly atMs: number;
  readonly acrossMs: number;
  n: number;
}

interface State {
  turn: number;
  readonly madeMs: number;
  readonly windows: readonly Ring[];
  sent: Sent[];
  lost: { readonly cycle: number; n: number }[];
}

type Params = Static<typeof ManyNodesParams>;

/** When messages are cut off, and when a replica takes over. */
function timesOf({ design, cycle_ms: cycleMs = 777, partition, failover }: Params) {
  const cut = partition?.nodes ?? 0;
  const cycleAt = (t: number) => periodsIn(t, cycleMs);
  const begins = ({ madeMs }: State) => madeMs + (partition?.from_ms ?? NEVER);
  const ends = ({ madeMs }: State) => madeMs + (partition?.to_ms ?? 0);
  const isParted = (state: State, t: number) => t >= begins(state) && t < ends(state);
  const isAway = (state: State, t: number, node: number) => design === 'exact' && node < cut && isParted(state, t);
  const fails = ({ madeMs }: State) => (failover === undefined ? NEVER : madeMs + failover.at_ms);
  return { cut, cycleAt, begins, ends, isParted, isAway, fails };
}

type Times = ReturnType<typeof timesOf>;

/** What a node knows of the requests of all. */
function newsOf(params: Params, { cut, cycleAt, ends, isParted, fails }: Times) {
  const { design, within = 60, sync_ms: syncMs = 0, lag_ms: lagMs = 0, failover } = params;
  const advanced = (windows: readonly Ring[], t: number) => windows.map((window) => advance(window, cycleAt(t)));
  const countsAt = ({ windows }: State, t: number) => windows.map((window) => eventsAt(window, cycleAt(t)));
  const isUnknown = ({ node, cycle, atMs, acrossMs }: Sent, to: number, t: number) =>
    node !== to && cycle > cycleAt(t) - within && t < (node < cut === to < cut ? atMs : acrossMs);
  const known = (state: State, counts: readonly number[], node: number, t: number) => {
    if (design === 'local_share') return counts[node]!;
    const { sent } = state;
    let sum = 0;
    for (const one of counts) sum += one;
    for (const one of sent) if (isUnknown(one, node, t)) sum -= one.n;
    if (t >= fails(state)) for (const { cycle, n } of state.lost) if (cycle > cycleAt(t) - within) sum -= n;
    return sum;
  };
  const send = (state: State, t: number, node: number, n: number) => {
    const sentMs = syncMs === 0 ? t : multipleOf(syncMs, periodsIn(t, syncMs) + 1);
    const atMs = sentMs + lagMs;
    const acrossMs = isParted(state, sentMs) ? ends(state) + lagMs : atMs;
    if (Math.max(atMs, acrossMs) <= t) return;
    const cycle = cycleAt(t);
    for (let at = state.sent.length - 1; at >= 0; at -= 1) {
      const one = state.sent[at]!;
      if (one.atMs < atMs) break;
      if (one.node === node && one.cycle === cycle && one.acrossMs === acrossMs) {
        one.n += n;
        return;
      }
    }
    state.sent.push({ node, cycle, atMs, acrossMs, n });
  };
  const mayLose = (state: State, t: number, n: number) => {
    if (t >= fails(state) || t + failover!.replica_lag_ms <= fails(state)) return;
    const last = state.lost.at(-1);
    if (last?.cycle === cycleAt(t)) last.n += n;
    else state.lost.push({ cycle: cycleAt(t), n });
  };
  const forget = (state: State, t: number) => {
    const isOver = ({ cycle, atMs, acrossMs }: Sent) => cycle <= cycleAt(t) - within || (atMs <= t && acrossMs <= t);
    if (state.sent.some(isOver)) state.sent = state.sent.filter((one) => !isOver(one));
    while (state.lost.length > 0 && state.lost[0]!.cycle <= cycleAt(t) - within) state.lost.shift();
  };
  return { advanced, countsAt, known, send, mayLose, forget };
}

/** Which nodes share what is left. */
function groupsOf(params: Params, { cut, isParted, isAway }: Times) {
  const { nodes, design, sync_ms: syncMs = 0, lag_ms: lagMs = 0, spread = 'even' } = params;
  const all = Array.from({ length: nodes }, (_, node) => node);
  /** How many requests can arrive now before the nodes of a group have received more than `m`. */
  const before = (state: State, group: readonly number[], m: number) => {
    if (group.length === 0) return NEVER;
    if (spread === 'one') return group.includes(0) ? m : NEVER;
    const offsets = group.map((node) => (node - state.turn + nodes) % nodes).sort((a, b) => a - b);
    return Math.floor(m / group.length) * nodes + offsets[m % group.length]!;
  };
  const groups = (state: State, t: number): (readonly number[])[] => {
    if (design === 'exact') return [all.filter((node) => !isAway(state, t, node))];
    if (design === 'local_share' || syncMs > 0 || lagMs > 0) return all.map((node) => [node]);
    return isParted(state, t) ? [all.slice(0, cut), all.slice(cut)] : [all];
  };
  return { before, groups };
}

function limitOf({ nodes, design, threshold = 100 }: Params, node: number): number {
  return design === 'local_share' ? Math.floor(threshold / nodes) + (node < threshold % nodes ? 1 : 0) : threshold;
}

export function manyNodes(params: Params): Rule<State> {
  const { nodes, design, threshold = 100, within = 60, cycle_ms: cycleMs = 777, partition, spread = 'even' } = params;
  const { lag_ms: lagMs = 0, failover } = params;
  const all = Array.from({ length: nodes }, (_, node) => node);
  const most = Math.floor(Number.MAX_SAFE_INTEGER / nodes);
  const away = partition?.when_away ?? 'closed';
  const limits = all.map((node) => limitOf(params, node));
  const times = timesOf(params);
  const { cycleAt, begins, ends, isAway, fails } = times;
  const { advanced, countsAt, known, send, mayLose, forget } = newsOf(params, times);
  const { before, groups } = groupsOf(params, times);
  const next = ({ turn }: State) => (spread === 'one' ? 0 : turn);

  return {
    // The next request may go to another node.
    hastens: true,
    fresh(madeMs) {
      const windows = all.map(() => ringOf(within, cycleAt(madeMs)));
      return { turn: 0, madeMs, windows, sent: [], lost: [] };
    },
    admit(state, t, n) {
      const node = next(state);
      state.turn = (node + 1) % nodes;
      const counts = advanced(state.windows, t);
      forget(state, t);
      if (isAway(state, t, node)) return away === 'open' ? 0 : LIMITED;
      const ok = known(state, counts, node, t) + n <= limits[node]!;
      const added = Math.min(n, most - counts[node]!);
      add(state.windows[node]!, presentOf(state.windows[node]!), added);
      if (design === 'batched') send(state, t, node, added);
      if (design === 'exact' && failover !== undefined) mayLose(state, t, added);
      return ok ? (design === 'exact' ? 2 * lagMs : 0) : LIMITED;
    },
    nextAdmission(state, t, n) {
      const node = next(state);
      // Advanced on the way: a search over a long window looks at each cell once.
      const windows = copyOf(state.windows);
      const admits = (at: number) =>
        isAway(state, at, node) ? away === 'open' : known(state, advanced(windows, at), node, at) + n <= limits[node]!;
      // Counts of others only increase the known count: it falls when a cycle leaves.
      const after = (at: number) => {
        if (isAway(state, at, node)) return ends(state);
        const edges = [begins(state), fails(state)].filter((edge) => edge > at);
        if (cycleAt(at) <= cycleAt(t) + within) edges.push(multipleOf(cycleMs, cycleAt(at) + 1));
        return Math.min(NEVER, ...edges);
      };
      let at = t;
      while (at < NEVER && !admits(at)) at = after(at);
      return at;
    },
    nextChange(state, t) {
      const edges = [
        begins(state),
        ends(state),
        fails(state),
        ...state.sent.flatMap(({ atMs, acrossMs }) => [atMs, acrossMs]),
      ];
      const isEmpty = countsAt(state, t).every((one) => one === 0);
      if (!isEmpty) edges.push(multipleOf(cycleMs, cycleAt(t) + 1));
      return Math.min(NEVER, ...edges.filter((at) => at > t));
    },
    remaining(state, t) {
      const counts = countsAt(state, t);
      const refusing = away === 'closed' ? all.filter((node) => isAway(state, t, node)) : [];
      const rooms = groups(state, t).map((group) => {
        const [node] = group;
        const room = node === undefined ? 0 : limits[node]! - known(state, counts, node, t);
        return before(state, group, Math.max(0, room));
      });
      return Math.min(before(state, refusing, 0), ...rooms);
    },
    forgettable(state, t) {
      const isEven = design !== 'local_share' || threshold % nodes === 0 || next(state) === 0;
      return (
        partition === undefined && failover === undefined && isEven && countsAt(state, t).every((one) => one === 0)
      );
    },
  };
}
