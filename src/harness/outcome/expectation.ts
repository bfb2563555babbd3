// Expectations of a scenario: conditions on figures, over the run, a phase, or every interval of a given length.
//
//   limited == 0            the figure over the whole run
//   ... from 0 to 120       over the cycles 0 .. 119
//   ... in_any 60           |---60---|          holds over every interval of 60 cycles
//                             |---60---|
import type { Static } from 'typebox';
import { ExpressionError, parseCondition, type ReadCondition } from '../../core/limiter/expression/condition.js';
import { nearest } from '../../core/schema/did-you-mean.js';
import { Failure } from '../../core/schema/failure.js';
import { exact, real } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { timeField } from '../../core/schema/quantity.js';
import { type StretchFigure, stretchFigures, wholeFigures } from './figure-names.js';
import type { ExpectationOutcome } from './outcome-schema.js';
import { parseStretch, type ReadTime, type Stretch } from './stretch.js';

const Condition = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Comparisons of figures of the outcome, for example `limited == 0` or `recovery_cycles <= 61`.',
  examples: ['limited == 0'],
});

export const ExpectationSpec = Type.Union(
  [
    Condition,
    exact({
      'name?': Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'What to call it in reports. Default: the condition.',
      }),
      that: Condition,
      'phase?': Type.String({ minLength: 1, maxLength: 64, description: 'Look at this phase only.' }),
      'from?': timeField('Look from this cycle on. Default: 0.'),
      'to?': timeField('Look at the cycles before this one. Default: the end of the drain.'),
      'in_any?': timeField('The condition holds in every stretch of this many cycles.'),
      'contract?': Type.String({ minLength: 1, maxLength: 200, description: 'Look at this contract only.' }),
      'share?': real(0, 1, 'With --replications: the share of them in which it must hold. Default: 1, all of them.'),
    }),
  ],
  { description: 'What the run must show.' },
);
export type ExpectationSpec = Static<typeof ExpectationSpec>;

export interface Expectation {
  readonly name: string;
  readonly text: string;
  readonly condition: ReadCondition;
  readonly at: Stretch | undefined;
  readonly inAny: number | undefined;
  readonly contract: string | undefined;
  /** Share of replications in which it must hold; undefined: all. */
  readonly share: number | undefined;
}

export interface FigureSource {
  whole(name: string): number | undefined;
  /** Of every interval of this length; of the one if `length` is Infinity. */
  values(
    name: StretchFigure,
    length: number,
    at: Stretch,
    contract: string | undefined,
  ): ReadonlySet<number> | undefined;
}

export interface Reading {
  readonly time: ReadTime;
  readonly phases: Readonly<Record<string, Stretch>>;
  readonly contracts: readonly string[] | undefined;
  readonly clients: readonly string[];
  /** Parts with figures of their own that the scenario does not have. */
  readonly absent: readonly ('clients' | 'service' | 'costs')[];
  /** Undefined for a scenario without one. */
  readonly control: Pick<Reading, 'clients' | 'absent'> | undefined;
}

const CONTROL = 'control.';
const ofControl = (name: string) => `${CONTROL}${name}`;

/** A name in a condition: the figure, and whether it is that of the control. */
function figureIn(name: string): [figure: string, isOfControl: boolean] {
  return name.startsWith(CONTROL) ? [name.slice(CONTROL.length), true] : [name, false];
}

export function parseExpectation(spec: ExpectationSpec, place: string, reading: Reading): Expectation {
  const given = typeof spec === 'string' ? { that: spec } : spec;
  const at = stretchOf(given, place, reading);
  checkContract(given.contract, place, reading);
  const inAny = given.in_any === undefined ? undefined : reading.time(given.in_any, `${place}/in_any`, 1);
  const partial = at !== undefined || inAny !== undefined || given.contract !== undefined;
  const ownFigures = ({ clients }: Pick<Reading, 'clients'>) =>
    partial ? { names: stretchFigures } : wholeFigures(clients.map((kind) => kind.replaceAll('-', '_')));
  const { control } = reading;
  const own = ownFigures(reading);
  const vocabulary = { ...own, names: [...own.names, ...ownFigures(control ?? reading).names.map(ofControl)] };
  const path = typeof spec === 'string' ? place : `${place}/that`;
  let condition: ReadCondition;
  try {
    condition = parseCondition(given.that, vocabulary);
  } catch (error) {
    const share = /\d\s*%/.test(given.that) ? '; 5 % of the requests is written 0.05 * requests' : '';
    if (error instanceof ExpressionError) throw refused(path, `cannot be read: ${error.message}${share}`);
    throw error;
  }
  if (condition.names.size === 0) throw refused(path, 'names no figure of the outcome, for example `limited == 0`');
  for (const name of condition.names) {
    const [figure, isOfControl] = figureIn(name);
    if (isOfControl && control === undefined) throw refused(path, `names ${name}, and the scenario has no control`);
    const { absent } = isOfControl && control !== undefined ? control : reading;
    const part = absent.find((one) => figure.startsWith(`${one}.`));
    if (part !== undefined)
      throw refused(path, `names ${name}, and ${isOfControl ? 'its control' : 'the scenario'} has no ${part}`);
  }
  if (inAny !== undefined && condition.names.size > 1) throw refused(path, 'may name one figure only beside in_any');
  const { name = wordsFor(given), contract, share } = given;
  return { name, text: wordsFor(given), condition, at, inAny, contract, share };
}

/** The result and the value found; for a condition with several figures, all of them as text. */
export function judge(
  { name, text: expected, condition, at, inAny, contract, share }: Expectation,
  run: FigureSource,
  control?: FigureSource,
): ExpectationOutcome {
  const from = (name: string) => {
    const [figure, isOfControl] = figureIn(name);
    return { source: isOfControl ? control : run, figure: figure as StretchFigure };
  };
  const asked = { name, expected, ...(share === undefined ? {} : { share }) };
  const whole: Stretch = { from: 0, to: Number.POSITIVE_INFINITY };
  const names = [...condition.names];
  if (inAny !== undefined) {
    const { source, figure } = from(names[0]!);
    const values = source?.values(figure, inAny, at ?? whole, contract);
    return { ...asked, ...verdictOn(values ?? new Set(), condition) };
  }
  const value = (name: string) => {
    const { source, figure } = from(name);
    if (at === undefined && contract === undefined) return source?.whole(figure);
    const [one] = source?.values(figure, Number.POSITIVE_INFINITY, at ?? whole, contract) ?? [];
    return one;
  };
  const values = names.map((figure) => value(figure));
  const actual =
    names.length === 1
      ? (values[0] ?? null)
      : names.map((figure, index) => `${figure} ${values[index] ?? 'none'}`).join(', ');
  // "not (recovery_cycles > 61)" must not hold because nothing recovered.
  const isKnown = values.some((one) => one !== undefined);
  return { ...asked, actual, held: isKnown && condition.holds(value) };
}

/** Shows the failing value furthest out, or any that fails; if none does, the smallest for a lower bound, and else the largest. */
function verdictOn(values: ReadonlySet<number>, condition: ReadCondition): Pick<ExpectationOutcome, 'actual' | 'held'> {
  if (values.size === 0) return { actual: null, held: false };
  const fails = (value: number) => !condition.holds(() => value);
  const ordered = [...values].sort((a, b) => a - b);
  const isLowerBound = fails(Number.NEGATIVE_INFINITY) && !fails(Number.POSITIVE_INFINITY);
  const [first, second] = isLowerBound ? [ordered[0]!, ordered.at(-1)!] : [ordered.at(-1)!, ordered[0]!];
  const failing = [first, second, ...values].find(fails);
  return { actual: failing ?? first, held: failing === undefined };
}

function stretchOf(
  { phase, from, to }: { phase?: string; from?: number | string; to?: number | string },
  place: string,
  { time, phases }: Reading,
): Stretch | undefined {
  if (phase === undefined) {
    return from === undefined && to === undefined ? undefined : parseStretch({ from, to }, place, time);
  }
  if (from !== undefined || to !== undefined) throw refused(`${place}/phase`, 'cannot be combined with from or to');
  if (Object.hasOwn(phases, phase)) return phases[phase];
  const names = Object.keys(phases);
  const guess = nearest(phase, names);
  const advice =
    guess !== undefined
      ? `; did you mean "${guess}"?`
      : names.length > 0
        ? `: there are ${names.join(', ')}`
        : ': there are none';
  throw refused(`${place}/phase`, `is no phase of the scenario${advice}`);
}

/** A contract that does not exist would meet any bound. */
function checkContract(contract: string | undefined, place: string, { contracts }: Reading): void {
  if (contract === undefined || contracts === undefined || contracts.includes(contract)) return;
  const advice = contracts.length === 1 ? 'there is one, "all"' : `they are called "1" to "${contracts.length}"`;
  throw refused(`${place}/contract`, `is no contract of the scenario: ${advice}`);
}

function wordsFor(given: Exclude<ExpectationSpec, string> | { that: string }): string {
  const { phase, from, to, in_any, contract } = given as Exclude<ExpectationSpec, string>;
  return [
    given.that,
    ...(in_any === undefined ? [] : [`in any ${typeof in_any === 'number' ? `${in_any} cycles` : in_any}`]),
    ...(phase === undefined ? [] : [`in phase ${phase}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to === undefined ? [] : [`to ${to}`]),
    ...(contract === undefined ? [] : [`for contract ${contract}`]),
  ].join(' ');
}

function refused(path: string, message: string): Failure {
  return new Failure('invalid_input', { what: 'The expectation cannot be understood.', faults: [{ path, message }] });
}
