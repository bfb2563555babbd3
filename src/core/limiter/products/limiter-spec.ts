// A limiter as written in a scenario or a deploy: its schemas, its faults, and its definition.
//
//   limiter: { threshold: 100, within: 60 }                             requests in a rolling window of cycles: rate-limiter.ts
//   limiter: { primitive: gcra, params: { T_ms: 100, tau_ms: 500 } }    a rule
//   limiter: { like: nginx, rate: 10r/s, burst: 5 }                     a product, in its own words
//   limiter: { paste: 'limit_req_zone …; limit_req …;' }                a piece of its configuration
//   limiter: { and: [{ threshold: 10, within: 1s }, …] }                 all of them
//   limiter: 10 in 1s and 100 in 60s                                    the same as a text: limit-text.ts
import type { Static, TUnsafe } from 'typebox';
import { Failure, type Fault, placed } from '../../schema/failure.js';
import { exact, flag, real, strict, whole } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { cycleMsFor, parseTime, timeField } from '../../schema/quantity.js';
import { valueFaults } from '../../schema/value-faults.js';
import { CYCLE_MS } from '../../time/cycle.js';
import type { ContractDefinition } from '../definition.js';
import { nearingFrom, type RateLimiterParameters, rateLimiter } from '../rate-limiter.js';
import { RuleDefinition } from '../rule/rule-definition.js';
import { ruleLimiter } from '../rule-limiter.js';
import { limitFiles } from './limit-files.js';
import { completeLimit } from './limit-text.js';
import { definitionOf, limiterAdvice, namesOf, productOf, products } from './products.js';

export const windowFields = {
  'threshold?': whole(1, 1_000_000_000, 'Request events a window may hold. Default: 100.'),
  'within?': timeField('Length of the rolling window. Default: 60 cycles.'),
  'near_limit?': real(
    0.01,
    0.99,
    'Share of the threshold from which the contract is in the state nearing, which emits near_limit.',
  ),
  'shadow?': flag('Whether it admits all, and only says what it would have limited. Default: false.'),
};

const Window = exact(windowFields);

const { hold_ms, counts } = RuleDefinition.properties;

const WindowOfSeveral = exact({ ...windowFields, hold_ms, counts });

const Paste = exact({
  paste: Type.String({
    minLength: 1,
    maxLength: 20_000,
    description:
      'A stanza of nginx or HAProxy, or a whole nginx.conf: limit_req_zone and limit_req, or a stick-table and its deny.',
  }),
  'location?': Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'Which limiter, where places have limits of their own: `location /api`. `weir limiter` lists them.',
  }),
  hold_ms,
  counts,
});

const Held = Type.Object({ hold_ms, counts });

const All = exact({
  and: Type.Array(Type.Object({}, { additionalProperties: true, description: 'A limiter.' }), {
    minItems: 2,
    maxItems: 16,
    description: 'Limiters that all have to admit a request: windows, which count every request, or rules.',
  }),
  hold_ms,
  counts,
});

const likes = Object.entries(products).map(([name, { product, params, example }]) =>
  Type.Object(
    { like: Type.Enum(namesOf(name), { description: product }), ...propertiesOf(params), hold_ms, counts },
    { ...strict, description: product, examples: [{ like: name, ...example }] },
  ),
);

function propertiesOf(params: unknown): typeof RuleDefinition.properties {
  return (params as typeof RuleDefinition).properties;
}

export type RuleLimiterSpec =
  | RuleDefinition
  | Static<typeof Paste>
  | Static<typeof All>
  | { readonly like: string; readonly [parameter: string]: unknown };

export const ruleShapes = [RuleDefinition, Paste, All, ...likes] as unknown as [TUnsafe<RuleLimiterSpec>];

export function followsRule(limiter: unknown): limiter is Readonly<Record<string, unknown>> {
  if (typeof limiter !== 'object' || limiter === null) return false;
  return ['primitive', 'like', 'paste', 'and'].some((way) => way in limiter);
}

export function windowsOf(limiter: unknown): (number | string | undefined)[] {
  const { and, within } = (limiter ?? {}) as { readonly and?: readonly unknown[]; readonly within?: number | string };
  if (Array.isArray(and)) return and.flatMap(windowsOf);
  return followsRule(limiter) ? [] : [within];
}

/** @param place JSON pointer of the limiter @throws Failure `invalid_definition`, every fault with its place */
export function checkLimiter(given: unknown, place = ''): Readonly<Record<string, unknown>> {
  const limiter = typeof given === 'string' ? readAt(given, place) : given;
  const faults = followsRule(limiter) ? ruleLimiterFaults(limiter, place) : valueFaults(Window, limiter, place);
  if (faults.length === 0) return limiter as Readonly<Record<string, unknown>>;
  throw new Failure('invalid_definition', {
    what: 'The limiter was refused.',
    why: `${faults[0]!.path} ${faults[0]!.message}.`.trim(),
    fix: limiterAdvice(limiter),
    faults,
  });
}

function readAt(text: string, place: string): unknown {
  try {
    return completeLimit(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, what, why, fix, faults } = error;
    throw new Failure(code, { what, why, fix, faults: faults.map((fault) => placed(fault, place)) });
  }
}

export function ruleLimiterFaults(limiter: Readonly<Record<string, unknown>>, place: string): Fault[] {
  if ('like' in limiter && typeof limiter['like'] !== 'string')
    return [{ path: `${place}/like`, message: 'must be a string' }];
  const shape = 'paste' in limiter ? Paste : 'and' in limiter ? All : Held;
  const faults = 'primitive' in limiter ? [] : valueFaults(shape, limiter, place);
  if (faults.length === 0 && Array.isArray(limiter['and']))
    for (const [index, one] of limiter['and'].entries())
      if (!followsRule(one)) faults.push(...valueFaults(WindowOfSeveral, one, `${place}/and/${index}`));
  if (faults.length > 0) return faults;
  try {
    definitionOf(limiter, cycleMsFor(windowsOf(limiter), CYCLE_MS));
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.faults.length === 0)
      return [{ path: place, message: `cannot be read: ${(error.why ?? error.what).replace(/\.$/, '')}` }];
    return error.faults.map((fault) => placed(fault, place));
  }
}

/** Of a limiter of a scenario, or of the words of `--limit`. @param cycleMs of the run @throws Failure as `checkLimiter`, `invalid_input` */
export function limiterDefinition(given: string | object, cycleMs = CYCLE_MS, place = ''): ContractDefinition {
  const limiter = checkLimiter(given, place);
  if (followsRule(limiter)) {
    const name = 'like' in limiter ? productOf(String(limiter['like'])).name : undefined;
    return ruleLimiter(definitionOf(limiter, cycleMs), name);
  }
  const { threshold, within, near_limit, shadow } = limiter;
  const cycles = within === undefined ? undefined : parseTime(within as number | string, cycleMs, '/within', 1);
  const definition = rateLimiter({
    ...(threshold === undefined ? {} : { threshold: threshold as number }),
    ...(cycles === undefined ? {} : { within: cycles }),
    ...(near_limit === undefined ? {} : { near_limit: near_limit as number }),
  });
  return shadow === true ? { ...definition, shadow } : definition;
}

/** Remarks on what limits nothing: near_limit, and the parts of a pasted configuration that were not used, with their lines. */
export function limiterNotes(limiter: unknown): readonly string[] {
  if (!followsRule(limiter)) {
    const { near_limit: share, threshold } = (limiter ?? {}) as Partial<RateLimiterParameters>;
    if (share === undefined) return [];
    const from = nearingFrom(share, threshold);
    return [
      `near_limit=${share} limits nothing: from ${from} requests in the window on, the contract is in the state nearing.`,
    ];
  }
  // Each has lines of its own, counted from 1.
  if (Array.isArray(limiter['and']))
    return limiter['and'].flatMap((one, index) => limiterNotes(one).map((note) => `Of limiter ${index + 1}: ${note}`));
  if (!('paste' in limiter)) return [];
  return limitFiles().readStanza(String(limiter['paste'])).notes;
}
