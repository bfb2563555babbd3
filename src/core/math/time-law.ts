// How long something takes: a fixed time, or one drawn from a law.
//
//   constant      |          |                x = time
//   exponential   |▆▅▄▃▂▂▁▁▁▁▁▁▁             x = -mean ln(1 - u)
//   normal        |    ▁▃▆█▆▃▁               x = |mean + deviation z|       folded at 0: a time is never negative
//   uniform       |   ████████               x = from + (to - from) u
//   lognormal     |  ▃█▇▅▃▂▂▁▁▁▁             x = e^(m + s z),  s^2 = ln(1 + deviation^2 / mean^2),  m = ln mean - s^2 / 2
import type { Static } from 'typebox';
import { Failure, unreachable } from '../schema/failure.js';
import { exact } from '../schema/fields.js';
import { Type } from '../schema/json-schema.js';
import { parseTimeMs, timeField } from '../schema/quantity.js';
import { exp, log } from './elementary.js';
import type { RandomStream } from './random.js';

const Law = <const Name extends string>(name: Name, description: string) => Type.Literal(name, { description });

export const TimeLawSpec = Type.Union(
  [
    timeField('Always this long.'),
    exact({ law: Law('constant', 'Always the same.'), time: timeField('How long.') }),
    exact({ law: Law('exponential', 'Without memory.'), mean: timeField('Mean.') }),
    exact({
      law: Law('normal', 'Around a mean; what would be negative counts as positive.'),
      mean: timeField('Mean, before folding.'),
      deviation: timeField('Standard deviation, before folding.'),
    }),
    exact({
      law: Law('uniform', 'Every time between two is as likely.'),
      from: timeField('The shortest.'),
      to: timeField('The longest; not below from.'),
    }),
    exact({
      law: Law('lognormal', 'Mostly short, now and then very long.'),
      mean: timeField('Mean, above 0.'),
      deviation: timeField('Standard deviation.'),
    }),
  ],
  { description: 'How long: a time, or a law to draw it from.' },
);

export type TimeLawSpec = Static<typeof TimeLawSpec>;

export interface TimeLaw {
  drawMs(stream: RandomStream): number;
}

/**
 * @param path JSON pointer to the specification, for failures
 * @param leastMs the smallest mean allowed
 * @throws Failure `invalid_input` when a time cannot be read, the mean is below `leastMs`, or `to` below `from`
 */
export function parseTimeLaw(spec: TimeLawSpec, cycleMs: number, path = '', leastMs = 0): TimeLaw {
  if (typeof spec !== 'object') return constant(parseTimeMs(spec, cycleMs, path, leastMs));
  const ms = (value: number | string, field: string, least = 0) =>
    parseTimeMs(value, cycleMs, `${path}/${field}`, least);
  switch (spec.law) {
    case 'constant':
      return constant(ms(spec.time, 'time', leastMs));
    case 'exponential':
      return exponential(ms(spec.mean, 'mean', leastMs));
    case 'normal':
      return normal(ms(spec.mean, 'mean', leastMs), ms(spec.deviation, 'deviation'));
    case 'uniform': {
      const fromMs = ms(spec.from, 'from');
      return uniform(fromMs, ms(spec.to, 'to', Math.max(fromMs, leastMs)));
    }
    case 'lognormal': {
      const meanMs = ms(spec.mean, 'mean', leastMs);
      if (meanMs === 0) throw notAboveZero(`${path}/mean`);
      return lognormal(meanMs, ms(spec.deviation, 'deviation'));
    }
    default:
      return unreachable(spec);
  }
}

export function constant(timeMs: number): TimeLaw {
  return { drawMs: () => timeMs };
}

export function exponential(meanMs: number): TimeLaw {
  return { drawMs: (stream) => stream.exponential(1 / meanMs) };
}

export function normal(meanMs: number, deviationMs: number): TimeLaw {
  return { drawMs: (stream) => Math.abs(stream.normal(meanMs, deviationMs)) };
}

function uniform(fromMs: number, toMs: number): TimeLaw {
  return { drawMs: (stream) => fromMs + (toMs - fromMs) * stream.uniform() };
}

/** @param meanMs above 0 */
function lognormal(meanMs: number, deviationMs: number): TimeLaw {
  const ratio = deviationMs / meanMs;
  const s2 = log(1 + ratio * ratio);
  const m = log(meanMs) - s2 / 2;
  const s = Math.sqrt(s2);
  return { drawMs: (stream) => exp(stream.normal(m, s)) };
}

function notAboveZero(path: string): Failure {
  return new Failure('invalid_input', {
    what: 'The law cannot be used.',
    why: 'The mean of a lognormal law must be above 0.',
    fix: 'Give a mean such as 100ms.',
    faults: [{ path, message: 'must be above 0' }],
  });
}
