// Searches for an order in which a limiter can have counted requests, so that its rule gives the answers that were seen.
//
//   a request        sent |-----------?-----------| answered        counted once, somewhere in between
//   held             sent |-----?----------| released <= answered   the rule says when; at most `transportMs` before the answer
//   without answer   sent |-----------?--------------------- ...    nothing is concluded from what comes after it was sent
//
// Requests of one cost and one answer are alike. So if there is an order, there is one in which the k-th counted of the admitted comes
// after the k-th sending of any of them, and is released before the k-th answer; likewise the limited. What is left to find is when
// the next admitted and the next limited request is counted:
//
//   limited  3 |      x──x          each node: so many admitted and so many limited requests counted, and a state of the rule;
//            2 |   x──x             all nodes that can be reached are kept, step by step in time;
//            1 | x─┘                a node whose next request should have been counted by now is dropped.
//              +------------        Where none is left, no order explains the answers.
//                1  2  3  4 admitted
import { type Counting, LONG_AGO_MS } from './counting.js';
import { behindMs, type Pause, type SeenRequest } from './placed-requests.js';

export interface SearchOptions {
  /** How far instants may be off, in ms, at least 0. */
  readonly slackMs: number;
  /** The most time between the release of a request and its answer, in ms. */
  readonly transportMs: number;
  /** How much later than ours the clock of the rule is, in ms, at least 0. */
  readonly phaseMs: number;
  /** In these the clock of the rule may have stood still. Default: none. */
  readonly pauses?: readonly Pause[] | undefined;
  /** After so many nodes the search ends. */
  readonly mostNodes: number;
}

export type Found =
  | { readonly type: 'explained'; readonly nodes: number }
  | { readonly type: 'refuted'; readonly nodes: number; readonly by: Contradiction }
  | { readonly type: 'too many'; readonly nodes: number };

/** A request that the rule cannot have answered as it was. */
export interface Contradiction {
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly decision: 'admitted' | 'limited';
  /** The answer came before the rule would have released the request, or later than the transport allows. */
  readonly isHeld: boolean;
}

/** Answers of one kind, each column in order of time; in steps. */
interface Kind {
  readonly n: number;
  readonly sent: Float64Array;
  /** The last step at which it can have been counted. */
  readonly due: Float64Array;
  /** The first and the last step at which it can have been released. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  /** How many requests of the other kind had been answered when it was sent. */
  readonly after: Float64Array;
}

interface Node {
  readonly admitted: number;
  readonly limited: number;
  readonly state: unknown;
  /** When requests are released that are held, ascending, in steps: at the earliest and at the latest, of all ways that lead here. */
  readonly soonest: readonly number[];
  readonly latest: readonly number[];
}

const NONE: readonly number[] = [];

/** Where the rule's time is when the first request is sent, in ms. */
const BASE_MS = 2 * LONG_AGO_MS;

export function searchOrder(requests: readonly SeenRequest[], counting: Counting, options: SearchOptions): Found {
  return new Search(requests, counting, options).run();
}

class Search {
  readonly #counting: Counting;
  readonly #admitted: Kind;
  readonly #limited: Kind;
  /** The step of the first request without an answer. */
  readonly #until: number;
  readonly #fromMs: number;
  readonly #options: SearchOptions;
  readonly #requests: readonly SeenRequest[];
  readonly #isBounded: boolean;
  /** The admitted requests whose answers came later than the rule and the transport account for, in some order. */
  readonly #tooLong = new Set<number>();
  #nodes = 0;

  constructor(requests: readonly SeenRequest[], counting: Counting, options: SearchOptions) {
    this.#counting = counting;
    this.#options = options;
    this.#requests = requests;
    this.#isBounded = Number.isFinite(options.transportMs);
    this.#fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
    this.#admitted = this.#kindOf('admitted', 'limited');
    this.#limited = this.#kindOf('limited', 'admitted');
    this.#until = this.#kindOf('unknown', 'admitted').sent[0] ?? Number.POSITIVE_INFINITY;
  }

  run(): Found {
    const { mostNodes } = this.#options;
    const begin = Math.min(this.#admitted.sent[0] ?? 0, this.#limited.sent[0] ?? 0);
    let nodes: Node[] = this.#counting
      .begin(this.#ms(begin) - 1)
      .map((state) => ({ admitted: 0, limited: 0, state, soonest: NONE, latest: NONE }));
    let step = begin;
    for (;;) {
      if (step >= this.#until) return { type: 'explained', nodes: this.#nodes };
      const reached = this.#closure(nodes, step);
      if (this.#nodes > mostNodes) return { type: 'too many', nodes: this.#nodes };
      nodes = reached.filter((node) => this.#isInTime(node, step));
      if (nodes.length === 0) return { type: 'refuted', nodes: this.#nodes, by: this.#contradictionOf(reached, step) };
      const next = nodes.reduce((least, node) => Math.min(least, this.#nextStep(node, step)), Number.POSITIVE_INFINITY);
      if (next === Number.POSITIVE_INFINITY) return { type: 'explained', nodes: this.#nodes };
      step = next;
    }
  }

  /** All nodes that can be reached at this step, by counting none, one or several requests. */
  #closure(nodes: readonly Node[], step: number): Node[] {
    const counting = this.#counting;
    const tMs = this.#ms(step);
    const known = new Map<string, Node>();
    const open: string[] = [];
    const reach = (node: Node) => {
      const key = `${node.admitted}/${node.limited}/${counting.key(node.state, tMs)}`;
      const same = known.get(key);
      const joined = same === undefined ? node : this.#join(same, node);
      if (joined === undefined) return;
      known.set(key, joined);
      open.push(key);
    };
    for (const node of nodes) reach(releasedBy(node, step));
    for (let key = open.pop(); key !== undefined && this.#nodes <= this.#options.mostNodes; key = open.pop()) {
      const node = known.get(key);
      // It was opened twice, and left out in between.
      if (node === undefined) continue;
      this.#nodes += 1;
      const limited = this.#limit(node, step, tMs);
      if (limited !== undefined) {
        reach(limited);
        // A refusal that changes nothing may as well be counted as soon as it can be.
        if (isSame(counting, node.state, limited.state, tMs)) {
          known.delete(key);
          continue;
        }
      }
      const admitted = this.#admit(node, step, tMs);
      if (admitted !== undefined) reach(admitted);
    }
    return [...known.values()];
  }

  #limit(node: Node, step: number, tMs: number): Node | undefined {
    const { limited, state } = node;
    const { n, sent, first, after } = this.#limited;
    if (limited === n || sent[limited]! > step || after[limited]! > node.admitted) return undefined;
    if (this.#isBounded && first[limited]! > step) return undefined;
    const next = this.#counting.refuse(state, tMs);
    return next === undefined ? undefined : { ...node, limited: limited + 1, state: next };
  }

  #admit(node: Node, step: number, tMs: number): Node | undefined {
    const { admitted, state, soonest, latest } = node;
    const { n, sent, after } = this.#admitted;
    if (admitted === n || sent[admitted]! > step || after[admitted]! > node.limited) return undefined;
    const next = this.#counting.admit(state, tMs);
    if (next === undefined) return undefined;
    const release = step + Math.floor(next.delayMs / this.#counting.stepMs);
    const one = {
      ...node,
      admitted: admitted + 1,
      state: next.state,
      soonest: release > step ? inserted(soonest, release) : soonest,
      latest: release > step && this.#isBounded ? inserted(latest, release) : latest,
    };
    if (!this.#isTooEarly(one, step)) return one;
    this.#tooLong.add(admitted);
    return undefined;
  }

  /** Undefined where the other adds nothing to the first. */
  #join(one: Node, other: Node): Node | undefined {
    const state = this.#counting.join(one.state, other.state);
    const soonest = earlier(one.soonest, other.soonest);
    const latest = later(one.latest, other.latest);
    if (state === undefined && soonest === one.soonest && latest === one.latest) return undefined;
    return { ...one, state: state ?? one.state, soonest, latest };
  }

  /** Whether more requests are released than the transport allows: their answers come too late for that. */
  #isTooEarly({ admitted, latest }: Node, step: number): boolean {
    if (!this.#isBounded) return false;
    const released = admitted - latest.length;
    const { first } = this.#admitted;
    if (released > 0 && first[released - 1]! > step) return true;
    return latest.some((release, k) => first[released + k]! > release);
  }

  /** Whether everything was counted and released that was answered by the end of the step. */
  #isInTime({ admitted, limited, soonest }: Node, step: number): boolean {
    const { n, last, due } = this.#admitted;
    const released = admitted - soonest.length;
    if (admitted < n && due[admitted]! <= step) return false;
    if (limited < this.#limited.n && this.#limited.last[limited]! <= step) return false;
    return released === n || last[released]! > step;
  }

  #nextStep({ admitted, limited, soonest }: Node, step: number): number {
    const next = Math.min(
      this.#admitted.sent[admitted] ?? Number.POSITIVE_INFINITY,
      this.#limited.sent[limited] ?? Number.POSITIVE_INFINITY,
      soonest[0] ?? Number.POSITIVE_INFINITY,
    );
    return Math.max(step + 1, next);
  }

  /** The request that the furthest node could not count, or release, in time. */
  #contradictionOf(nodes: readonly Node[], step: number): Contradiction {
    const furthest = nodes.reduce((best, node) =>
      node.admitted + node.limited > best.admitted + best.limited ? node : best,
    );
    const { admitted, limited, soonest } = furthest;
    const isDue = ({ n, due }: Kind, counted: number) => counted < n && due[counted]! <= step;
    const contradiction = (decision: 'admitted' | 'limited', place: number, isHeld: boolean): Contradiction => {
      const alike = this.#requests.filter((request) => request.decision === decision);
      const { sentMs, answeredMs } = alike.sort((a, b) => a.answeredMs - b.answeredMs)[place]!;
      return { sentMs, answeredMs, decision, isHeld };
    };
    if (isDue(this.#limited, limited)) return contradiction('limited', limited, false);
    if (isDue(this.#admitted, admitted)) return contradiction('admitted', admitted, this.#tooLong.has(admitted));
    return contradiction('admitted', admitted - soonest.length, true);
  }

  #kindOf(decision: SeenRequest['decision'], otherDecision: SeenRequest['decision']): Kind {
    const { stepMs } = this.#counting;
    const { slackMs, transportMs, pauses = [] } = this.#options;
    const all = this.#requests.filter((request) => request.decision === decision);
    const others = this.#requests.filter((request) => request.decision === otherDecision);
    const answeredMs = Float64Array.from(others, (other) => other.answeredMs + 2 * slackMs).sort();
    const at = (ms: number) => Math.floor((ms - this.#fromMs) / stepMs);
    // By the clock of the rule, an instant of ours lies between these two.
    const earliest = (ms: number) => at(ms - behindMs(pauses, ms));
    // A step more to either side: the clock of the rule may turn to its next step anywhere within one of ours.
    const wider = stepMs < 1 ? 1 : 0;
    const sorted = (of: (request: SeenRequest) => number) => Float64Array.from(all, of).sort();
    return {
      n: all.length,
      sent: sorted(({ sentMs }) => earliest(sentMs - slackMs) - wider),
      due: sorted((one) => at(Math.min(one.answeredMs, one.sentMs + transportMs) + slackMs) + 1 + wider),
      first: sorted((one) => earliest(one.answeredMs - slackMs - transportMs) - wider),
      last: sorted((one) => at(one.answeredMs + slackMs) + 1 + wider),
      after: sorted(({ sentMs }) => answeredMs.filter((ms) => ms < sentMs).length),
    };
  }

  #ms(step: number): number {
    return BASE_MS + this.#options.phaseMs + step * this.#counting.stepMs;
  }
}

function releasedBy(node: Node, step: number): Node {
  if ((node.soonest[0] ?? step + 1) > step && (node.latest[0] ?? step + 1) > step) return node;
  const isHeld = (release: number) => release > step;
  return { ...node, soonest: node.soonest.filter(isHeld), latest: node.latest.filter(isHeld) };
}

function inserted(releases: readonly number[], release: number): readonly number[] {
  const place = releases.findLastIndex((one) => one <= release) + 1;
  return [...releases.slice(0, place), release, ...releases.slice(place)];
}

/** One by one from the last, the earlier of each; those of which there is none in one of the lists are released. The first list where it has them. */
function earlier(one: readonly number[], other: readonly number[]): readonly number[] {
  const held = Math.min(one.length, other.length);
  const both = one.slice(one.length - held).map((release, k) => Math.min(release, other[other.length - held + k]!));
  return both.length === one.length && both.every((release, k) => release === one[k]) ? one : both;
}

/** The same for the later of each. */
function later(one: readonly number[], other: readonly number[]): readonly number[] {
  const held = Math.max(one.length, other.length);
  const all = Array.from({ length: held }, (_, k) =>
    Math.max(one[one.length - held + k] ?? 0, other[other.length - held + k] ?? 0),
  );
  return all.length === one.length && all.every((release, k) => release === one[k]) ? one : all;
}

function isSame(counting: Counting, one: unknown, other: unknown, tMs: number): boolean {
  return (
    counting.key(one, tMs) === counting.key(other, tMs) &&
    counting.join(one, other) === undefined &&
    counting.join(other, one) === undefined
  );
}
