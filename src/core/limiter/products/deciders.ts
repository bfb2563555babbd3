// One limiter over many keys: JSON lines in, decisions out. Keys that behave like new ones are dropped, so memory grows only with the
// keys that are limited now.

import { compileSchema } from '../../schema/compile-schema.js';
import { Failure } from '../../schema/failure.js';
import { exact, real, whole } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { valueFaults } from '../../schema/value-faults.js';
import { announcedWait } from '../rule/announced.js';
import { LAST_MS, LIMITED } from '../rule/rule.js';
import { type RuleDefinition, ruleOf } from '../rule/rule-definition.js';

const RequestLine = exact({
  t_ms: real(0, LAST_MS, 'When the request comes, in ms since 1970.'),
  'n?': whole(1, Number.MAX_SAFE_INTEGER, 'Its cost. Default: 1.'),
  'key?': Type.String({ maxLength: 1024, description: 'Whose request it is. Default: all are of one key.' }),
  'hold_ms?': real(0, LAST_MS, 'How long it is in flight, in ms. Default: 0.'),
});
const isRequestLine = compileSchema(RequestLine);

/** Times in ms, to a thousandth; `null` for never or unlimited. */
interface Decided {
  readonly admitted: boolean;
  readonly delay_ms: number;
  readonly retry_after_ms: number | null;
  readonly told_retry_after_ms?: number | null;
  readonly remaining: number | null;
  readonly state: 'allowing' | 'limiting';
}

interface Misread {
  readonly code: 'invalid_json' | 'invalid_input';
  readonly what: string;
}

/** Keys at the first sweep; the next ones follow whenever they have doubled. */
const FIRST_SWEEP = 65_536;
const MOST_KEYS = 1_000_000;

export function decidersOf(definition: RuleDefinition): (line: string) => Decided | Misread {
  const states = new Map<string, unknown>();
  let madeMs: number | undefined;
  let sweepAt = FIRST_SWEEP;
  const rule = ruleOf(definition);
  const { announces } = definition;
  const decide = (tMs: number, n: number, key: string, holdMs: number): Decided => {
    const state = stateOf(rule.shared ? '' : key, tMs);
    const delay = rule.admit(state, tMs, n, holdMs);
    const remaining = rule.remaining(state, tMs);
    const shown = { remaining: Number.isFinite(remaining) ? remaining : null };
    if (delay !== LIMITED) {
      return { admitted: true, delay_ms: thousandth(delay), retry_after_ms: 0, ...shown, state: 'allowing' };
    }
    const told = announces === undefined ? undefined : announcedWait(rule, announces, state, tMs, n);
    return {
      admitted: false,
      delay_ms: 0,
      retry_after_ms: upwards(rule.nextAdmission(state, tMs, n) - tMs),
      ...(told === undefined ? {} : { told_retry_after_ms: upwards(told) }),
      ...shown,
      state: 'limiting',
    };
  };
  const stateOf = (key: string, tMs: number): unknown => {
    const known = states.get(key);
    if (known !== undefined) return known;
    madeMs ??= tMs;
    if (states.size >= sweepAt) sweep(tMs);
    const state = rule.fresh(madeMs);
    states.set(key, state);
    return state;
  };
  const sweep = (tMs: number): void => {
    for (const [key, state] of states) if (rule.forgettable(state, tMs)) states.delete(key);
    if (states.size >= MOST_KEYS) {
      throw new Failure('limit_reached', {
        what: `More than ${MOST_KEYS} keys have a state that matters.`,
        fix: 'Decide the keys in parts: each is decided on its own.',
      });
    }
    sweepAt = Math.max(FIRST_SWEEP, Math.min(MOST_KEYS, 2 * states.size));
  };
  return (text) => {
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch (error) {
      return { code: 'invalid_json', what: `${(error as Error).message}.` };
    }
    if (!isRequestLine(line)) {
      const [fault] = valueFaults(RequestLine, line);
      return { code: 'invalid_input', what: `${fault!.path} ${fault!.message}.` };
    }
    return decide(line.t_ms, line.n ?? 1, line.key ?? '', line.hold_ms ?? 0);
  };
}

function thousandth(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Rounds up: a shown wait is never too short. */
function upwards(ms: number): number | null {
  return Number.isFinite(ms) ? Math.ceil(ms * 1000 - 1e-3) / 1000 : null;
}
