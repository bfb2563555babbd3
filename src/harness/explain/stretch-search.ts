// The search of one stretch of a key's answers: which instants of counting, and which decisions, explain all of them. Pure.
//
//   counted 3 |      x──o      a node: how many are counted of each kind, and what the limit may hold then. A step counts one more
//           2 |   o──x         request. Nodes that explain no later answer are left out in the end.
//           1 | o─┘            If no node has a successor, the next that passed is one that the limit refuses.
//
// Requests of one kind are interchangeable: the k-th counted is counted after the k-th sending and before the k-th end. So more may seem
// possible than is, never less.
import { firstIndex } from '../../core/math/first-index.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { ALWAYS, LONG_AGO_MS, type RuleCounting, type Span } from './counting.js';

export interface LoggedAnswer {
  /** When the limit decided, by its clock; both included. */
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * `shared`: refused by this limit, by another one before it, or behind both. `ours`: by this limit for sure. `perhaps`: admitted,
   * refused, or never seen by it.
   */
  readonly kind: 'passed' | 'refused' | 'shared' | 'ours' | 'perhaps';
  /** Which of the rules that share a count. */
  readonly rule: number;
}

/** What a limit may have done with a refused answer. */
export interface Possible {
  admitted: boolean;
  refused: boolean;
}

export interface JudgedKey {
  readonly possible: readonly Possible[];
  /** Places of answers that passed and that no order admits. */
  readonly letThrough: ReadonlySet<number>;
  /** How many of the refused answers the limit refused, at least. */
  readonly least: number;
  readonly most: number;
}

export interface JudgingOptions {
  /** Before it, requests may have been counted that are not in the log. */
  readonly startMs: number;
  /** How long the limit remembers. */
  readonly memoryMs: number;
  /** Nodes that may still be searched; what takes more is not judged. */
  readonly nodes: { left: number };
}

const MOST_USED_BEFORE = 1_000;
/** Limits of the search of a stretch. */
const NODES_OF_ANSWER = 150;
const [LEAST_NODES, MOST_NODES] = [30_000, 1_000_000];
/** Nodes of one place that stay apart, where there are few places. */
const APART = 6;
const FEW_PLACES = 40;
/** Ms of a span that an exact rule tries at the cost of a node. */
const EXACT_MS = 4;

export const isRefused = ({ kind }: Pick<LoggedAnswer, 'kind'>) => kind === 'refused' || kind === 'shared';

interface Queue {
  readonly kind: LoggedAnswer['kind'];
  readonly counting: RuleCounting;
  /** Ascending. */
  readonly sent: Float64Array;
  readonly due: Float64Array;
  /** In order of `due`. */
  readonly places: readonly number[];
  /** The instants at which the k-th may be counted so. */
  readonly admitted: Span[];
  readonly refused: Span[];
}

interface Held {
  state: unknown;
  nowMs: number;
  /** How many of the refused were, by the limit, on the ways to here. */
  least: number;
  most: number;
}

interface Node extends Held {
  /** By queue. */
  readonly counted: readonly number[];
  explainsLater: boolean;
}

interface Step {
  readonly from: Node;
  readonly to: Node;
  /** Which list of its queue has the instants; undefined if it was not counted. */
  readonly spans: Span[] | undefined;
  readonly k: number;
  readonly at: Span;
}

export interface StretchOptions extends Omit<JudgingOptions, 'startMs'> {
  readonly isUsed: boolean;
  readonly most: number;
  /** Between edges at an unknown phase, in ms; else 0. */
  readonly period: number;
  readonly sliceMs: number;
}

const NEVER: Span = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };

/** Answers of one key, before which the limit was not in use, unless the log begins there. */
export class StretchSearch {
  readonly #answers: readonly LoggedAnswer[];
  readonly #countings: readonly RuleCounting[];
  readonly #options: StretchOptions;
  readonly #queues: readonly Queue[];
  readonly #letThrough = new Set<number>();

  constructor(answers: readonly LoggedAnswer[], countings: readonly RuleCounting[], options: StretchOptions) {
    this.#answers = answers;
    this.#countings = countings;
    this.#options = options;
    const names = [...new Set(answers.map(({ kind, rule }) => `${kind} ${rule}`))];
    this.#queues = names.map((name) => queueOf(answers, name, countings));
  }

  run(): JudgedKey | undefined {
    const { nodes } = this.#options;
    let layer = this.#beginning();
    let left = Math.min(MOST_NODES, Math.max(LEAST_NODES, NODES_OF_ANSWER * this.#answers.length));
    const steps: Step[][] = [];
    for (let n = 0; layer !== undefined && n < this.#answers.length; n += 1) {
      const next = layerOf(this.#countings[0]!, layer.length, this.#options.sliceMs);
      for (const node of layer) this.#follow(node, next);
      if (next.steps.length === 0) for (const node of layer) this.#skip(node, next);
      layer = next.nodes();
      steps.push(next.steps);
      left -= next.cost;
      nodes.left -= next.cost;
      if (left < 0 || nodes.left < 0) return undefined;
    }
    if (layer === undefined) return undefined;
    for (const node of layer) node.explainsLater = true;
    for (const some of steps.reverse())
      for (const { from, to, spans, k, at } of some) {
        from.explainsLater ||= to.explainsLater;
        if (to.explainsLater && spans !== undefined) spans[k] = widest(spans[k]!, at);
      }
    const hasBounds = this.#letThrough.size === 0;
    return {
      possible: this.#answers.map((one) => this.#possibleOf(one)),
      letThrough: this.#letThrough,
      least: hasBounds ? Math.min(...layer.map(({ least }) => least)) : 0,
      most: hasBounds ? Math.max(...layer.map(({ most }) => most)) : this.#answers.filter(isRefused).length,
    };
  }

  /** Undefined if the limit was in use, and too much may have been counted. */
  #beginning(): readonly Node[] | undefined {
    const { isUsed, most, memoryMs, period } = this.#options;
    const [counting] = this.#countings as [RuleCounting];
    const atMs = Math.floor(this.#answers.reduce((least, { fromMs }) => Math.min(least, fromMs), Infinity));
    const longAgoMs = atMs - LONG_AGO_MS;
    // At a phase of its clock it was not made for the first request.
    const made = counting.begin(atMs, period === 0 ? longAgoMs : Math.floor(longAgoMs / period) * period);
    const fresh = period === 0 ? made : made.slice(0, 1);
    const isKnown = most <= MOST_USED_BEFORE && counting.isBounded;
    if (isUsed && !isKnown) return undefined;
    const span = { from: atMs - memoryMs, to: atMs };
    const states = isUsed ? usedStates(counting, fresh, most + 1, span) : fresh;
    const counted = this.#queues.map(() => 0);
    return states.map((state) => ({ counted, state, nowMs: atMs - 1, least: 0, most: 0, explainsLater: false }));
  }

  #follow(node: Node, next: Layer): void {
    const toMs = this.#nextDue(node);
    this.#queues.forEach((queue, q) => {
      const k = node.counted[q]!;
      const { kind, counting, admitted, refused } = queue;
      const span = { from: Math.max(node.nowMs, queue.sent[k] ?? Number.POSITIVE_INFINITY), to: toMs };
      if (!(span.from <= span.to)) return;
      const counted = node.counted.with(q, k + 1);
      const sentMs = this.#nextSent(counted);
      const add = (one: Held, spans: Span[] | undefined, at: Span) => {
        next.steps.push({ from: node, to: next.add(counted, one, sentMs), spans, k, at });
      };
      if (kind === 'perhaps' || kind === 'shared') add(node, undefined, span);
      const by = isRefused(queue) ? 1 : 0;
      for (const slice of slicesOf(span, this.#options.sliceMs)) {
        next.cost += counting.isBounded ? 1 : 1 + (slice.to - slice.from) / EXACT_MS;
        if (kind !== 'ours')
          for (const { state, at } of counting.admit(node.state, slice, ALWAYS, 1))
            add({ ...node, state, nowMs: at.from }, admitted, at);
        if (kind === 'passed') continue;
        for (const { state, at } of counting.refuse(node.state, slice, true, 1))
          add({ state, nowMs: at.from, least: node.least + by, most: node.most + by }, refused, at);
      }
    });
  }

  /** Leaves the next that is due uncounted: it passed though the limit refuses it, or the other way round. */
  #skip(node: Node, next: Layer): void {
    const dueMs = this.#nextDue(node);
    const due = this.#queues.flatMap(({ due: all }, q) => (all[node.counted[q]!] === dueMs ? [q] : []));
    const q = due.find((one) => this.#queues[one]!.kind === 'passed') ?? due[0]!;
    const k = node.counted[q]!;
    const { kind, places } = this.#queues[q]!;
    if (kind === 'passed') this.#letThrough.add(places[k]!);
    const counted = node.counted.with(q, k + 1);
    const to = next.add(counted, node, this.#nextSent(counted));
    next.steps.push({ from: node, to, spans: undefined, k, at: NEVER });
  }

  #nextSent(counted: readonly number[]): number {
    return this.#queues.reduce((least, { sent }, q) => Math.min(least, sent[counted[q]!] ?? Infinity), Infinity);
  }

  #nextDue({ counted }: Node): number {
    return this.#queues.reduce((least, { due }, q) => Math.min(least, due[counted[q]!] ?? Infinity), Infinity);
  }

  /** After an answer that the limit does not explain, or shortly before it, what it held is not known. */
  #possibleOf({ kind, rule, fromMs, toMs }: LoggedAnswer): Possible {
    const found = { admitted: !isRefused({ kind }), refused: !isRefused({ kind }) };
    if (found.admitted) return found;
    const { memoryMs } = this.#options;
    for (const place of this.#letThrough) {
      const other = this.#answers[place]!;
      if (fromMs <= other.toMs + memoryMs && toMs >= other.fromMs - memoryMs) return { admitted: true, refused: true };
    }
    const counting = this.#countings[rule];
    const { sent, due, admitted, refused } = this.#queues.find(
      (one) => one.kind === kind && one.counting === counting,
    )!;
    const own = spanOn(counting!, { fromMs, toMs });
    const meets = ({ from, to }: Span) => from <= own.to && to >= own.from;
    const last = firstIndex(sent.length, (k) => sent[k]! > own.to);
    for (
      let k = firstIndex(due.length, (k) => due[k]! >= own.from);
      k < last && !(found.admitted && found.refused);
      k += 1
    ) {
      found.admitted ||= meets(admitted[k]!);
      found.refused ||= meets(refused[k]!);
    }
    return found.admitted || found.refused ? found : { admitted: true, refused: true };
  }
}

/** The nodes that have counted the same number of requests. Those of one place are joined where they are too many. */
type Layer = ReturnType<typeof layerOf>;

function layerOf(counting: RuleCounting, before: number, sliceMs: number) {
  const steps: Step[] = [];
  const places = new Map<string, Node[]>();
  const apart = before > FEW_PLACES ? 1 : APART;
  const widen = (node: Node, one: Held): Node => {
    node.state = counting.join(node.state, one.state) ?? node.state;
    node.nowMs = Math.min(node.nowMs, one.nowMs);
    node.least = Math.min(node.least, one.least);
    node.most = Math.max(node.most, one.most);
    return node;
  };
  return {
    cost: 0,
    steps,
    nodes: () => [...places.values()].flat(),
    /** Returns the node that covers it. */
    add(counted: readonly number[], given: Held, sentMs: number): Node {
      const settledMs = sentMs === Infinity ? given.nowMs : Math.max(given.nowMs, sentMs);
      const one = { ...given, state: counting.settled(given.state, settledMs) };
      const slice = Math.floor(given.nowMs / sliceMs);
      const key = `${counted.join('/')} ${slice} ${counting.key(one.state)}`;
      const place = getOrInsert(places, key, () => []);
      let nearest = place[0];
      for (const other of place) {
        if (counting.join(other.state, one.state) === undefined) return widen(other, one);
        if (Math.abs(other.nowMs - one.nowMs) < Math.abs(nearest!.nowMs - one.nowMs)) nearest = other;
      }
      if (nearest !== undefined && place.length >= apart) return widen(nearest, one);
      const { state, nowMs, least, most } = one;
      const node = { counted, state, nowMs, least, most, explainsLater: false };
      place.push(node);
      return node;
    },
  };
}

function queueOf(answers: readonly LoggedAnswer[], name: string, countings: readonly RuleCounting[]): Queue {
  const places = answers.flatMap(({ kind, rule }, place) => (`${kind} ${rule}` === name ? [place] : []));
  const { kind, rule } = answers[places[0]!]!;
  const counting = countings[rule]!;
  places.sort((a, b) => answers[a]!.toMs - answers[b]!.toMs);
  const spans = places.map((place) => spanOn(counting, answers[place]!));
  return {
    kind,
    counting,
    sent: Float64Array.from(spans, ({ from }) => from).sort(),
    due: Float64Array.from(spans, ({ to }) => to).sort(),
    places,
    admitted: places.map(() => NEVER),
    refused: places.map(() => NEVER),
  };
}

function slicesOf({ from, to }: Span, sliceMs: number): readonly Span[] {
  if (to - from <= sliceMs) return [{ from, to }];
  const first = Math.floor(from / sliceMs);
  return Array.from({ length: Math.floor(to / sliceMs) - first + 1 }, (_, k) => ({
    from: Math.max(from, (first + k) * sliceMs),
    to: Math.min(to, (first + k + 1) * sliceMs),
  }));
}

/** The rule's clock may tick at any instant between two of ours. */
function spanOn({ stepMs }: RuleCounting, { fromMs, toMs }: Pick<LoggedAnswer, 'fromMs' | 'toMs'>): Span {
  return stepMs === 1 ? { from: Math.floor(fromMs), to: Math.floor(toMs) + 1 } : { from: fromMs, to: toMs };
}

const widest = (one: Span, { from, to }: Span): Span => ({ from: Math.min(one.from, from), to: Math.max(one.to, to) });

/** After up to `most` requests in the span, with either answer. */
function usedStates(counting: RuleCounting, fresh: readonly unknown[], most: number, span: Span): unknown[] {
  const found = new Map<string, unknown>(fresh.map((state) => [counting.key(state), state]));
  let layer = fresh;
  for (let n = 0; n < most && layer.length > 0; n += 1) {
    const next = new Map<string, unknown>();
    for (const before of layer)
      for (const { state } of [...counting.admit(before, span, ALWAYS, 1), ...counting.refuse(before, span, true, 1)]) {
        const key = counting.key(state);
        const known = found.get(key);
        const joined = known === undefined ? state : counting.join(known, state);
        if (joined === undefined) continue;
        found.set(key, joined);
        next.set(key, joined);
      }
    layer = [...next.values()];
  }
  return [...found.values()];
}
