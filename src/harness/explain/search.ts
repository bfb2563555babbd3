// Searches for an order of counting in which the rule gives the observed answers.
//
//   a request        sent |-----------?-----------| answered        counted once, somewhere in between
//   held             sent |-----?----------| released <= answered   the rule determines the release; at most `transportMs` before the answer
//   without answer   sent |-----------?--------------------- ...    counted later with either answer, or never
//
// Requests of one answer are counted in the order of queues.ts. The search decides which kind is counted next, and when:
//
//   limited  3 |      x──x          a node: the number counted of each kind, the state of the rule, and the earliest instant of the
//            2 |   x──x             next. A step counts one more request, within what remains of its span.
//            1 | x─┘                Nodes of one place that differ only in instants are merged, with wider bounds.
//              +------------        If no node of a diagonal has a successor, no order explains the answers.
//                1  2  3  4 admitted
import { ALWAYS, type Counted, type RuleCounting, type Span } from './counting.js';
import type { Phase } from './phases.js';
import { firstDifference, type Queue, type Queues, since } from './queues.js';
import { isAnyPassed, layerOf, NONE, NONE_COUNTED, type SearchNode } from './search-nodes.js';

interface SearchOptions extends Phase {
  /** Searches all phases from `startMs` to this much later as one: if it explains nothing, none of them does. Default: 0. */
  readonly widthMs?: number | undefined;
  readonly mostNodes: number;
  /** Cached result for a common prefix of the requests, on the same clock. */
  readonly near?: Explained | undefined;
  /** What the limiter may hold before the first request. Default: nothing. */
  readonly from?: readonly SearchNode[] | undefined;
  readonly earlier?: EarlierUse | undefined;
}

/** Requests of others that may have been counted before the first one, with either answer. */
export interface EarlierUse {
  readonly spanMs: number;
  readonly most: number;
  /** Which numbers of requests are tried; each, if there are few. */
  readonly isTried: (n: number) => boolean;
}

interface Explained {
  readonly type: 'explained';
  readonly nodes: number;
  readonly queues: Queues;
  readonly diagonals: readonly Diagonal[];
}

interface Diagonal {
  readonly nodes: readonly SearchNode[];
  readonly most: Readonly<Record<keyof Queues, number>>;
}

type SearchResult =
  | Explained
  | { readonly type: 'refuted'; readonly nodes: number; readonly by: Contradiction }
  | { readonly type: 'too many'; readonly nodes: number };

interface Contradiction {
  readonly sentMs: number;
  readonly isHeld: boolean;
}

/** A candidate for the next request: its place, and the end of the counted part of its queue after it. */
interface Next {
  readonly place: number;
  readonly end: number;
  readonly passed: readonly number[];
  readonly cost: number;
}

const answers = ['admitted', 'limited'] as const;
type Answer = (typeof answers)[number];

/** Approximate number of nodes visited per node kept. */
const NODES_OF_STEP = 3;
/** Instants of earlier use, as shares of its span before the first request. */
const SHARES = [0.75, 0.5, 0.25, 0];

const MOST_APART = 12;
/** Number of diagonals kept for similar searches. */
const MOST_DIAGONALS = 64;

export function searchOrder(queues: Queues, counting: RuleCounting, options: SearchOptions): SearchResult {
  return new Search(queues, counting, options).run();
}

class Search {
  readonly #counting: RuleCounting;
  readonly #queues: Queues;
  /** The same on the clock of this search. */
  readonly #on: Queues;
  readonly #options: SearchOptions;
  #nodes = 0;
  /** Whether use before the first request was searched in part only. */
  #isPart = false;

  constructor(queues: Queues, counting: RuleCounting, options: SearchOptions) {
    this.#counting = counting;
    this.#options = options;
    this.#queues = queues;
    this.#on = since(options.startMs, options.widthMs ?? 0, queues);
  }

  run(): SearchResult {
    const total = this.#on.admitted.n + this.#on.limited.n + this.#on.unknown.n;
    const diagonals: Diagonal[] = [];
    if (this.#on.admitted.n + this.#on.limited.n === 0) return this.#explained(diagonals);
    let layer = this.#beginning();
    for (let n = 0; ; n += 1) {
      if (n % Math.ceil(total / MOST_DIAGONALS) === 0) diagonals.push(diagonalOf(layer));
      const next = layerOf(this.#counting, this.#apart(layer.length, total - n));
      for (const node of layer) {
        const following = this.#following(node);
        this.#nodes += 1 + following.length;
        if (this.#nodes > this.#options.mostNodes) return { type: 'too many', nodes: this.#nodes };
        for (const one of following) {
          if (this.#isOver(one)) return this.#explained(diagonals);
          next.add(one, this.#settledAt(one));
        }
      }
      const nodes = next.nodes();
      if (nodes.length === 0 && this.#isPart) return { type: 'too many', nodes: this.#nodes };
      if (nodes.length === 0) return { type: 'refuted', nodes: this.#nodes, by: this.#contradictionOf(layer) };
      layer = nodes;
    }
  }

  #explained(diagonals: readonly Diagonal[]): Explained {
    return { type: 'explained', nodes: this.#nodes, queues: this.#queues, diagonals };
  }

  /** The start, or the last diagonal shared with the similar search. */
  #beginning(): readonly SearchNode[] {
    const { near, earlier, from } = this.#options;
    if (from !== undefined) return from;
    const names = ['admitted', 'limited', 'unknown'] as const;
    const alike = near && names.map((name) => [name, firstDifference(near.queues[name], this.#queues[name])] as const);
    const known = near?.diagonals.findLast(({ most }) => alike!.every(([name, place]) => most[name] < place));
    if (known !== undefined) return known.nodes;
    const begin = Math.min(...names.map((name) => this.#on[name].sent[0] ?? Infinity));
    const fresh = (tMs: number): SearchNode[] =>
      this.#counting.begin(tMs, this.#options.longAgoMs).map((state) => ({ ...NONE_COUNTED, state, nowMs: tMs }));
    return earlier === undefined ? fresh(begin) : this.#afterUse(fresh(begin - earlier.spanMs), earlier, begin);
  }

  /** All states that use before the first request can leave; of exact states those of a few instants. */
  #afterUse(
    fresh: readonly SearchNode[],
    { most, spanMs, isTried }: EarlierUse,
    beginMs: number,
  ): readonly SearchNode[] {
    const { mostNodes, widthMs = 0 } = this.#options;
    const instants = SHARES.map((share) => beginMs - share * spanMs).map((ms) => ({ from: ms, to: ms }));
    const spans = this.#counting.isBounded ? [{ from: beginMs - spanMs, to: beginMs + widthMs }] : instants;
    const used = layerOf(this.#counting, MOST_APART);
    let layer = fresh;
    for (let n = 0; n <= most && layer.length > 0; n += 1) {
      this.#isPart = this.#nodes >= mostNodes / 2;
      if (this.#isPart) break;
      const next = layerOf(this.#counting, MOST_APART);
      for (const node of layer) {
        if (isTried(n)) used.add({ ...node, nowMs: beginMs }, beginMs);
        for (const { from, to } of spans.filter((span) => span.to >= node.nowMs)) {
          const span = { from: Math.max(from, node.nowMs), to };
          const admitted = this.#counting.admit(node.state, span, ALWAYS, 1);
          const counted = [...admitted, ...this.#counting.refuse(node.state, span, true, 1)];
          this.#nodes += 1 + counted.length;
          for (const { state, at } of counted) next.add({ ...node, state, nowMs: at.from }, at.from);
        }
      }
      layer = next.nodes();
    }
    return used.nodes();
  }

  #apart(width: number, left: number): number {
    const each = (this.#options.mostNodes - this.#nodes) / left;
    return Math.max(1, Math.min(MOST_APART, Math.floor((MOST_APART * each) / (width * NODES_OF_STEP))));
  }

  #following(node: SearchNode): SearchNode[] {
    const { unknown, state, nowMs } = node;
    const counting = this.#counting;
    const found: SearchNode[] = [];
    const add = (counted: readonly Counted<unknown>[], one: Partial<SearchNode>, isKnown: boolean) => {
      for (const { state: after, at, released } of counted) {
        const next = this.#withoutPast({ ...node, ...one, state: after, nowMs: at.from });
        const seen = isKnown ? this.#released(next, released) : this.#released(next, undefined);
        if (seen !== undefined && this.#isInTime(seen)) found.push(seen);
      }
    };
    for (const name of answers)
      for (const { place, passed, cost } of this.#nextOf(node, name)) {
        const span = this.#spanOf(node, name, place);
        if (span === undefined) continue;
        const isAdmitted = name === 'admitted';
        const counted = isAdmitted
          ? counting.admit(state, span, this.#releasedIn(node.admitted), cost)
          : counting.refuse(state, span, true, cost);
        add(counted, { [name]: node[name] + 1, passed: { ...node.passed, [name]: passed } }, isAdmitted);
      }
    const dueMs = this.#nextDue(node);
    // All answered requests are counted, and what is counted later does not change their releases.
    if (dueMs === Infinity) return found;
    const { sent, due, costs } = this.#on.unknown;
    if (costs !== undefined) {
      for (const { place, end, passed: left, cost } of this.#nextOf(node, 'unknown')) {
        const within = { from: Math.max(nowMs, sent[place]!), to: Math.min(dueMs, due[place]!) };
        if (within.from > within.to) continue;
        const one = { unknown: end, passed: { ...node.passed, unknown: left } };
        add(counting.admit(state, within, ALWAYS, cost), one, false);
        add(counting.refuse(state, within, true, cost), one, false);
      }
      return found;
    }
    // Unknown requests are interchangeable: the next counted one takes the first place with time left.
    for (let place = unknown; place < sent.length && sent[place]! <= dueMs; place += 1) {
      const earlier = place === unknown ? nowMs : due[place - 1]!;
      const within = { from: Math.max(nowMs, sent[place]!, earlier), to: Math.min(dueMs, due[place]!) };
      if (within.from <= within.to) {
        add(counting.admit(state, within, ALWAYS, 1), { unknown: place + 1 }, false);
        add(counting.refuse(state, within, true, 1), { unknown: place + 1 }, false);
      }
      if (due[place]! >= dueMs) break;
    }
    return found;
  }

  #nextOf(node: SearchNode, name: keyof Queues): Next[] {
    const { n, sent, due, costs } = this.#on[name];
    const passed = node.passed[name];
    const end = name === 'unknown' ? node.unknown : node[name] + passed.length;
    if (costs === undefined) return end === n ? [] : [{ place: end, end: end + 1, passed, cost: 1 }];
    const dueMs = this.#nextDue(node);
    const places = [...passed];
    for (let place = end; place < n && sent[place]! <= dueMs; place += 1) places.push(place);
    // Of two with equal cost, the one sent first goes first unless it is due later.
    const next = places.filter(
      (place, k) => !places.slice(0, k).some((one) => costs[one] === costs[place] && due[one]! <= due[place]!),
    );
    return next.map((place) => {
      const last = Math.max(end, place + 1);
      const left = places.filter((one) => one !== place && one < last);
      return { place, end: last, passed: left, cost: costs[place]! };
    });
  }

  #withoutPast(given: SearchNode): SearchNode {
    const { due, costs } = this.#on.unknown;
    const left = costs === undefined ? NONE : given.passed.unknown.filter((place) => due[place]! >= given.nowMs);
    const node =
      left.length === given.passed.unknown.length ? given : { ...given, passed: { ...given.passed, unknown: left } };
    let { unknown } = node;
    if (costs !== undefined) return node;
    while (unknown < this.#on.unknown.n && this.#on.unknown.due[unknown]! < node.nowMs) unknown += 1;
    return unknown === node.unknown ? node : { ...node, unknown };
  }

  /** A limited request is not held: it is counted as it is released. */
  #spanOf(node: SearchNode, name: Answer, place: number): Span | undefined {
    const { n, sent, first, after } = this.#on[name];
    if (place >= n || after[place]! > node[name === 'admitted' ? 'limited' : 'admitted']) return undefined;
    const leastMs = name === 'admitted' ? sent[place]! : Math.max(sent[place]!, first[node.limited]!);
    const span = { from: Math.max(node.nowMs, leastMs), to: this.#nextDue(node) };
    return span.from <= span.to ? span : undefined;
  }

  #nextDue({ admitted, limited, passed }: SearchNode): number {
    const dueOf = ({ dueFrom, due }: Queue, counted: number, left: readonly number[]) =>
      left.reduce((least, place) => Math.min(least, due[place]!), dueFrom[counted + left.length] ?? Infinity);
    return Math.min(
      dueOf(this.#on.admitted, admitted, passed.admitted),
      dueOf(this.#on.limited, limited, passed.limited),
    );
  }

  #releasedIn(admitted: number): Span {
    if (this.#counting.holds === 'in any order') return ALWAYS;
    return { from: this.#on.admitted.first[admitted]!, to: this.#on.admitted.last[admitted]! };
  }

  /** Adds the release of the last counted request, if releases come in any order. Undefined if a release is too early. */
  #released(node: SearchNode, released: Span | undefined): SearchNode | undefined {
    if (this.#counting.holds !== 'in any order') return node;
    const isHeld = (ms: number) => ms > node.nowMs;
    const one = {
      ...node,
      soonest: (released === undefined ? node.soonest : inserted(node.soonest, released.from)).filter(isHeld),
      latest: (released === undefined ? node.latest : inserted(node.latest, released.to)).filter(isHeld),
    };
    return this.#isTooEarly(one) ? undefined : one;
  }

  /** Whether more requests are released than the transport allows: their answers come too late for that. */
  #isTooEarly({ admitted, latest, nowMs }: SearchNode): boolean {
    const { first } = this.#on.admitted;
    const released = admitted - latest.length;
    if (released > 0 && first[released - 1]! > nowMs) return true;
    return latest.some((release, k) => first[released + k]! > release);
  }

  #isInTime(node: SearchNode): boolean {
    const { admitted, soonest, nowMs } = node;
    if (this.#nextDue(node) < nowMs) return false;
    if (this.#counting.holds !== 'in any order') return true;
    const { n, last } = this.#on.admitted;
    const released = admitted - soonest.length;
    return released === n || last[released]! >= nowMs;
  }

  #isOver({ admitted, limited, soonest }: SearchNode): boolean {
    if (admitted < this.#on.admitted.n || limited < this.#on.limited.n) return false;
    return soonest.every((release, k) => release <= this.#on.admitted.last[admitted - soonest.length + k]!);
  }

  #settledAt({ admitted, limited, unknown, passed, nowMs }: SearchNode): number {
    if (isAnyPassed(passed)) return nowMs;
    const next = Math.min(
      this.#on.admitted.sent[admitted] ?? Infinity,
      this.#on.limited.sent[limited] ?? Infinity,
      this.#on.unknown.sent[unknown] ?? Infinity,
    );
    return next === Infinity ? nowMs : Math.max(nowMs, next);
  }

  #contradictionOf(nodes: readonly SearchNode[]): Contradiction {
    const furthest = nodes.reduce((best, one) => (one.nowMs > best.nowMs ? one : best));
    const { admitted, limited } = furthest;
    const isAdmitted =
      this.#on.limited.n === 0 ||
      (this.#on.admitted.due[admitted] ?? Infinity) <= (this.#on.limited.due[limited] ?? Infinity);
    const { requests } = isAdmitted && this.#on.admitted.n > 0 ? this.#on.admitted : this.#on.limited;
    const { sentMs } = requests[Math.min(isAdmitted ? admitted : limited, requests.length - 1)]!;
    const [next] = isAdmitted ? this.#nextOf(furthest, 'admitted') : [];
    const span = next && this.#spanOf(furthest, 'admitted', next.place);
    const isHeld = span !== undefined && this.#counting.admit(furthest.state, span, ALWAYS, next!.cost).length > 0;
    return { sentMs, isHeld };
  }
}

function diagonalOf(nodes: readonly SearchNode[]): Diagonal {
  const most = { admitted: 0, limited: 0, unknown: 0 };
  for (const node of nodes) {
    most.admitted = Math.max(most.admitted, node.admitted + node.passed.admitted.length);
    most.limited = Math.max(most.limited, node.limited + node.passed.limited.length);
    most.unknown = Math.max(most.unknown, node.unknown);
  }
  return { nodes, most };
}

function inserted(releases: readonly number[], release: number): readonly number[] {
  const place = releases.findLastIndex((one) => one <= release) + 1;
  return [...releases.slice(0, place), release, ...releases.slice(place)];
}
