// Windows: an exact count, and bounds on the end of the window. Includes windows that hold requests, and those that block a key.
//
//   in the window    t < end       count + 1; the effect of a refused request on the end depends on the rule
//   after it         t >= end      count 1, and the end of the next window: from here, or the next edge of a grid

import type { ParamsOf, RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import type { Range } from '../../core/math/range.js';
import type { Counted, RuleClock, RuleCounting, Span } from './counting.js';
import { firstAfter, grainOf, joined, lastBefore, later, onClock, spanOf } from './span.js';

type WindowParams = Partial<ParamsOf<'fixed_window'> & Pick<ParamsOf<'fixed_window_delay'>, 'free' | 'step_ms'>> & {
  readonly window_ms: number;
};

interface Window {
  readonly end: Range;
  readonly count: number;
  readonly blocked: Range;
}

const PAST: Range = { least: Number.NEGATIVE_INFINITY, most: Number.NEGATIVE_INFINITY };

export function windowCounting(definition: RuleDefinition, clock: RuleClock): RuleCounting<Window> | undefined {
  const params = definition.params as WindowParams;
  if (params.state_ttl_from_last_admit_ms !== undefined || params.block_until_window_end === true) return undefined;
  switch (definition.primitive) {
    case 'fixed_window':
      return new WindowCounting(params, clock);
    case 'fixed_window_delay': {
      const { free = 0, step_ms = 0, ...window } = params;
      const heldMs = (count: number) => Math.max(0, count - free) * step_ms;
      return new WindowCounting({ ...window, limit: Number.MAX_SAFE_INTEGER }, clock, ({ from, to }, count) => ({
        from: from + heldMs(count),
        to: to + heldMs(count),
      }));
    }
    case 'fixed_window_exec_evenly':
      return new WindowCounting({ ...params, count_refused: true }, clock, (at, count, end) =>
        evenly(at, count, end, params),
      );
    default:
      return undefined;
  }
}

type ReleaseOf = (at: Span, count: number, end: Range) => Span;

/** Spreads the remaining requests over the rest of the window; a share below the mean becomes `count` means. */
function evenly({ from, to }: Span, count: number, end: Range, { limit = 0, window_ms }: WindowParams): Span {
  if (count <= 1) return { from, to };
  const mean = window_ms / limit;
  const shares = limit - count + 2;
  const shareMs = (leftMs: number) => Math.ceil(leftMs / shares);
  const isShort = shareMs(end.least - to) < mean;
  const isLong = shareMs(end.most - from) >= mean;
  const short = { from: from + count * mean, to: to + count * mean };
  const long = { from: from + shareMs(end.least - from), to: to + shareMs(end.most - to) };
  if (!isLong) return short;
  return isShort ? { from: Math.min(short.from, long.from), to: Math.max(short.to, long.to) } : long;
}

class WindowCounting implements RuleCounting<Window> {
  readonly stepMs: 0 | 1;
  readonly isBounded = true;
  readonly holds: RuleCounting['holds'];
  readonly #params: WindowParams & { readonly limit: number };
  readonly #clock: RuleClock;
  readonly #releaseOf: ReleaseOf | undefined;
  /** The window is over this long after its end. */
  readonly #lateMs: number;

  constructor(params: WindowParams, clock: RuleClock, releaseOf?: ReleaseOf) {
    this.stepMs = clock.stepMs;
    this.holds = releaseOf === undefined ? 'none' : 'in any order';
    this.#params = { ...params, limit: params.limit ?? 0 };
    this.#clock = clock;
    this.#releaseOf = releaseOf;
    const atEnd = (params.edge ?? 'reset_at_end') === 'reset_at_end';
    this.#lateMs = atEnd ? 0 : clock.stepMs || grainOf(clock);
  }

  begin(tMs: number, longAgoMs: number): Window[] {
    const { align = 'first', phase_ms = 0 } = this.#params;
    const endsAt = (ms: number): Window => ({ end: { least: ms, most: ms }, count: 0, blocked: PAST });
    if (align !== 'construction') return [{ end: PAST, count: 0, blocked: PAST }];
    return [endsAt(longAgoMs + phase_ms), endsAt(Math.floor(tMs) + phase_ms)];
  }

  admit(state: Window, span: Span, _released: Span, n: number): Counted<Window>[] {
    return this.#inside(state, onClock(span, this.#clock))
      .filter(({ count }) => count + n <= this.#params.limit)
      .map(({ at, end, blocked, count }) => {
        const next = this.#params.every_hit_restarts_window ? later(at, this.#params.window_ms) : end;
        const released = this.#releaseOf?.(at, count + n, next) ?? at;
        return { state: { end: next, count: count + n, blocked }, at, released };
      });
  }

  refuse(state: Window, given: Span, isCharged: boolean, n: number): Counted<Window>[] {
    const span = onClock(given, this.#clock);
    const { limit, count_refused, local_block_ms: blockMs, refused_rearm: rearms } = this.#params;
    const found: Counted<Window>[] = [];
    const blocking = (one: Window, at: Span): Window =>
      blockMs === undefined || !isCharged ? one : { ...one, blocked: later(at, blockMs) };
    const at = spanOf(span.from, Math.min(span.to, lastBefore(state.blocked.most, this.#clock)));
    if (at !== undefined) {
      const least = Math.max(state.blocked.least, firstAfter(at.from, this.#clock));
      const one = { ...state, blocked: { ...state.blocked, least } };
      found.push({ state: rearms ? blocking(one, at) : one, at, released: at });
    }
    for (const one of this.#inside(state, span)) {
      if (one.count + n <= limit) continue;
      const isKept = !isCharged || (one.count === 0 && !count_refused);
      // Without a charge, a window that is over leaves the state unchanged.
      const asWas = one.count === 0 ? state : { ...state, end: one.end };
      const kept = isKept ? asWas : this.#refused(one, n);
      const next = isCharged ? blocking(kept, one.at) : kept;
      found.push({ state: next, at: one.at, released: one.at });
    }
    return found;
  }

  settled(state: Window, tMs: number): Window {
    const { align = 'first' } = this.#params;
    const isOver = state.end.most + this.#lateMs <= tMs;
    const blocked = state.blocked.most <= tMs ? PAST : state.blocked;
    if (isOver && align !== 'construction') return { end: PAST, count: 0, blocked };
    return { ...state, blocked, count: isOver ? 0 : state.count };
  }

  key({ count, end, blocked }: Window): string {
    const edge = this.#params.align === 'construction' ? end.least % this.#params.window_ms : '';
    return `${count}/${end.most === PAST.most}/${blocked.most === PAST.most}/${edge}`;
  }

  join(one: Window, other: Window): Window | undefined {
    const [end, blocked] = [joined(one.end, other.end), joined(one.blocked, other.blocked)];
    if (end === undefined && blocked === undefined) return undefined;
    return { ...one, end: end ?? one.end, blocked: blocked ?? one.blocked };
  }

  /** The window that an unblocked request in the span finds: the count before it, and the end of the window. */
  #inside({ end, count, blocked }: Window, { from, to }: Span): (Window & { readonly at: Span })[] {
    const open = { least: blocked.least, most: Math.min(blocked.most, to) };
    const first = Math.max(from, open.least);
    const found: (Window & { readonly at: Span })[] = [];
    const inWindow = spanOf(first, Math.min(to, lastBefore(end.most + this.#lateMs, this.#clock)));
    const least = Math.max(end.least, firstAfter(first - this.#lateMs, this.#clock));
    if (inWindow !== undefined && least <= end.most) {
      found.push({ at: inWindow, end: { least, most: end.most }, count, blocked: open });
    }
    const after = spanOf(Math.max(first, end.least + this.#lateMs), to);
    if (after === undefined) return found;
    for (const { at, end: next } of this.#windowsIn(after, end)) found.push({ at, end: next, count: 0, blocked: open });
    return found;
  }

  #windowsIn(span: Span, end: Range): { readonly at: Span; readonly end: Range }[] {
    const { align = 'first', phase_ms = 0, window_ms } = this.#params;
    if (align === 'first') return [{ at: span, end: later(span, window_ms) }];
    const origin = align === 'epoch' ? phase_ms : end.least;
    const late = this.#lateMs;
    const found: { at: Span; end: Range }[] = [];
    const first = Math.floor((span.from - origin - late) / window_ms);
    for (let edge = origin + first * window_ms; edge <= span.to; edge += window_ms) {
      const last = edge + window_ms;
      const at = spanOf(Math.max(span.from, edge + late), Math.min(span.to, lastBefore(last + late, this.#clock)));
      if (at !== undefined) found.push({ at, end: { least: last, most: last } });
    }
    return found;
  }

  #refused({ at, end, count, blocked }: Window & { readonly at: Span }, n: number): Window {
    const { limit, window_ms, count_refused, block_ms = 0, refused_backoff: backoff } = this.#params;
    const { refused_restart_window: restarts, every_hit_restarts_window: isElastic } = this.#params;
    if (!count_refused) return { end, count, blocked };
    const after = count + n;
    // Above the limit the count decides nothing, except where the end depends on it.
    const kept = backoff === undefined ? Math.min(after, limit + 1) : after;
    if (isElastic || restarts) return { end: later(at, window_ms), count: kept, blocked };
    if (backoff !== undefined)
      return { end: later(at, window_ms * backoff ** (after - limit - 1)), count: kept, blocked };
    if (block_ms > 0 && count <= limit) return { end: later(at, block_ms), count: kept, blocked };
    return { end, count: kept, blocked };
  }
}
