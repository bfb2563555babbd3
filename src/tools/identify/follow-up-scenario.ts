// The scenario with which `weir load` checks a named rule: the cheapest load that most of the nearest other rules answer differently. Pure.
//
//   the rule named         o o o x x x o o x x
//   its window 2.5 % off   o o o x x x x o x x     each of them must differ in a few answers
//   another structure      o o o x x o o x x o
import { stringify } from 'yaml';
import { delaysOf, LIMITED } from '../../core/limiter/rule/rule.js';
import { type RuleDefinition, uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import type { Answer, IdentifiedRule } from './answer.js';
import type { Seen } from './evidence.js';
import { parametersOf } from './parameter-steps.js';
import { isByToken } from './structure.js';
import { structures } from './structures.js';

export interface Sent {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly keyHeader?: string | undefined;
}

/** Rates as multiples of the limit's, times in cycles. */
interface Load {
  readonly base: number;
  readonly burst: number;
  readonly burstCycles: number;
  readonly every: number | undefined;
  readonly cycles: number;
}

const CYCLES_OF_WINDOW = 20;
const FIRST_BURST = 30;
/** From a single burst to bursts of different lengths at different distances; cheapest first. */
const loads: readonly Load[] = [100, 200].flatMap((cycles) => [
  { base: 0.5, burst: 8, burstCycles: 5, every: undefined, cycles },
  { base: 0.9, burst: 8, burstCycles: 5, every: 27, cycles },
  { base: 0.5, burst: 4, burstCycles: 33, every: 47, cycles },
  { base: 1.1, burst: 8, burstCycles: 11, every: 29, cycles },
]);
/** A parameter that is off by this share must show. */
const OFF = 0.025;
/** With fewer different answers, the instants of requests could be the cause. */
const LEAST_DIFFERENT = 3;
const HELD_MS = 50;
const SECRET = /^(authorization|proxy-authorization|cookie)$/i;

export function followUpScenario(
  { rules: [rule] }: Answer,
  target: string,
  seen: readonly Seen[],
  { headers = {}, keyHeader }: Sent = {},
): string | undefined {
  if (rule === undefined) return undefined;
  const limit = rule.parameters['limit']!.value;
  const windowMs = windowMsOf(rule);
  const cycleMs = Math.min(86_400_000, Math.max(1, Math.round(windowMs / CYCLES_OF_WINDOW)));
  const perCycle = (limit * cycleMs) / windowMs;
  const rate = (part: number) => Number((part * perCycle).toPrecision(3));
  const { base, burst, burstCycles, every, cycles } = checkingLoad(rule, perCycle, cycleMs);
  const all = Object.entries(headers);
  const written = all.filter(([name]) => !SECRET.test(name));
  const left = all.filter(([name]) => SECRET.test(name)).map(([name]) => name);
  const body = {
    question: `Does the limiter of ${target} follow the rule that was found, and not one that is near it?`,
    cycle_ms: cycleMs,
    duration: cycles,
    limiter: rule.limiter,
    ...(/^https?:/.test(target) && {
      target: {
        url: target,
        ...(written.length > 0 && { headers: Object.fromEntries(written) }),
        ...(keyHeader !== undefined && { key_header: keyHeader }),
        ...statusesOf(seen),
      },
    }),
    arrivals: [
      {
        model: 'burst',
        base_rate: rate(base),
        burst_rate: rate(burst),
        at: FIRST_BURST,
        for: burstCycles,
        ...(every !== undefined && { every }),
        placement: 'even',
      },
    ],
  };
  const secrets = left.map((name) => `# ${name} was sent and is not written here: add it to target.headers.\n`);
  return `# ${rule.words}, as \`weir identify\` found it.\n${secrets.join('')}${stringify(body)}`;
}

function windowMsOf({ parameters: { limit, window_ms: window, token_ms: token } }: IdentifiedRule): number {
  return window?.value || (token?.value ?? 1_000) * limit!.value;
}

function checkingLoad(rule: IdentifiedRule, perCycle: number, cycleMs: number): Load {
  const others = nearestTo(rule);
  let [best, most] = [loads[0]!, -1];
  for (const load of loads) {
    const instants = instantsOf(load, perCycle, cycleMs);
    const own = delaysOf(uncheckedRule(rule.limiter), 0, instants);
    const distinguished = others.filter((other) => {
      const delays = delaysOf(uncheckedRule(other), 0, instants);
      return delays.filter((ms, k) => isApart(ms, own[k]!)).length >= LEAST_DIFFERENT;
    }).length;
    if (distinguished > most) [best, most] = [load, distinguished];
    if (distinguished === others.length) break;
  }
  return best;
}

function isApart(one: number, other: number): boolean {
  return (one === LIMITED) !== (other === LIMITED) || Math.abs(one - other) > HELD_MS;
}

/** The rule with each number a little off, and other structures with its limit and window. */
export function nearestTo(rule: IdentifiedRule): RuleDefinition[] {
  const params = rule.limiter.params as Readonly<Record<string, unknown>>;
  const off = Object.entries(params).flatMap(([name, value]) => {
    if (typeof value !== 'number' || name === 'phase_ms' || value === 0) return [];
    const isTime = name.endsWith('_ms') || name === 'rate_1000';
    const others = isTime ? [value * (1 - OFF), value * (1 + OFF)] : [value - 1, value + 1];
    return others
      .filter((other) => other > 0)
      .map((other) => ({ ...rule.limiter, params: { ...params, [name]: other } }));
  });
  const limit = Math.round(rule.parameters['limit']!.value);
  const windowMs = windowMsOf(rule);
  const structured = structures
    .filter((one) => one.id !== rule.structure && (one.isFine === undefined || one.family === rule.family))
    .filter(({ isInFlight }) => isInFlight !== true)
    .map((one) => one.definition(parametersOf(one, limit, isByToken(one) ? windowMs / limit : windowMs)));
  return [...off, ...structured];
}

function instantsOf({ base, burst, burstCycles, every, cycles }: Load, perCycle: number, cycleMs: number): number[] {
  const instants: number[] = [];
  let carried = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const age = cycle - FIRST_BURST;
    const isBurst = age >= 0 && (every === undefined ? age : age % every) < burstCycles;
    carried += (isBurst ? burst : base) * perCycle;
    const n = Math.floor(carried + 1e-9);
    carried -= n;
    for (let k = 0; k < n; k += 1) instants.push((cycle + (k + 0.5) / n) * cycleMs);
  }
  return instants;
}

function statusesOf(seen: readonly Seen[]) {
  const statuses = (decision: Seen['decision']) =>
    [...new Set(seen.filter((one) => one.decision === decision).flatMap(({ status }) => status ?? []))].sort(
      (a, b) => a - b,
    );
  const [limited, admitted] = [statuses('limited'), statuses('admitted')];
  return {
    ...(limited.some((status) => status !== 429) && { limited_status: limited }),
    ...(admitted.some((status) => status < 200 || status > 399) && { admitted_status: admitted }),
  };
}
