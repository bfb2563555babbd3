// The parameters that a limiter in words still needs, in the words of `--limit`.
//
//   gcra 1 in 3s      gcra needs a burst: gcra 1 in 3s burst=1
//   gcra burst=5      gcra needs a rate: gcra 10/s burst=5

import { exampleOf } from '../../schema/example-value.js';
import { Failure } from '../../schema/failure.js';
import { type Primitive, primitiveRow } from '../rule/rule-definition.js';
import { templateIdOf } from '../rule-limiter.js';
import { templates } from '../templates.js';
import { namedText } from './limit-words.js';
import { productOf } from './products.js';

type Fields = Readonly<Record<string, unknown>>;

interface Needed {
  readonly name: string;
  /** Parameters that are needed, such as `a burst`. */
  readonly what: readonly string[];
  /** What the text lacks behind the name. */
  readonly pace?: string | undefined;
  /** What it lacks at its end. */
  readonly rest: string;
}

/**
 * @param written the limiter as a text
 * @throws Failure `invalid_definition` if a parameter is missing
 */
export function refuseIncomplete(limiter: Fields, written: string): void {
  const { like, primitive } = limiter;
  const needed =
    like !== undefined
      ? neededByProduct(String(like), limiter)
      : primitive !== undefined
        ? neededByRule(primitive as Primitive, limiter['params'] as Fields, written)
        : undefined;
  if (needed === undefined || needed.what.length === 0) return;
  const { name, what, pace, rest } = needed;
  const words = written.split(' ');
  const isTwoWords = words.slice(0, 2).join('_').toLowerCase() === primitive;
  const head = words.splice(0, isTwoWords ? 2 : 1);
  const fixed = [...head, pace, ...words, rest].filter(Boolean).join(' ');
  const why = `${name} needs ${new Intl.ListFormat('en').format(what)}`;
  throw new Failure('invalid_definition', {
    what: `The limiter ${JSON.stringify(written)} is not complete.`,
    why: `${why}.`,
    fix: `Write '${fixed}'.`,
    faults: [{ path: '', message: `${why}: ${fixed}` }],
  });
}

interface ParameterSchema {
  readonly required?: readonly string[];
  readonly minProperties?: number;
}

function neededByProduct(like: string, given: Fields): Needed {
  const { name, product } = productOf(like);
  const { required = [], minProperties = 0 } = product.params as ParameterSchema;
  const isEmpty = Object.keys(given).every((one) => one === 'like');
  if (isEmpty && minProperties > 0) return { name, what: ['a parameter'], rest: namedText('', product.example).trim() };
  const what = missingOf(required, given);
  return { name, what, rest: asWords(what, product.example) };
}

function neededByRule(primitive: Primitive, given: Fields, written: string): Needed {
  const { params, paced } = primitiveRow(primitive);
  const missing = missingOf((params as ParameterSchema).required ?? [], given);
  const inPace = Object.keys(paced?.at(1, 1) ?? {});
  const needsPace = inPace.length > 0 && inPace.every((one) => missing.includes(one));
  const inBurst = Object.keys(paced?.burst?.(1, {}) ?? {});
  const needsBurst = inBurst.some((one) => missing.includes(one));
  const others = missing.filter((one) => !(needsPace && inPace.includes(one)) && !inBurst.includes(one));
  // As many at once as the rate has in its time.
  const [, burst = 20] = /\s(\d+)/.exec(written) ?? [];
  const example = {
    ...(exampleOf(params) as object),
    ...(templates.get(templateIdOf({ primitive }))?.rule?.params as object),
  };
  return {
    name: primitive,
    what: [...(needsPace ? ['a rate'] : []), ...(needsBurst ? ['a burst'] : []), ...others],
    pace: needsPace ? '10/s' : undefined,
    rest: [asWords(others, example), needsBurst ? `burst=${burst}` : ''].filter(Boolean).join(' '),
  };
}

function missingOf(required: readonly string[], given: Fields): string[] {
  return required.filter((name) => given[name] === undefined);
}

function asWords(names: readonly string[], example: Fields): string {
  return namedText('', Object.fromEntries(names.map((name) => [name, example[name]]))).trim();
}
