// The shape of an arrival in a scenario: one object for each model, distinguished by `model`.
import type { Static, TProperties } from 'typebox';
import { nearest } from '../../schema/did-you-mean.js';
import type { Fault } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import { rateField, timeField } from '../../schema/quantity.js';
import { valueFaults } from '../../schema/value-faults.js';
import { logFormats } from '../log/log-options.js';
import { MOST_PER_CYCLE } from './arrival.js';
import { placements } from './placement.js';

const Rate = (description: string) => rateField(description, MOST_PER_CYCLE);

const Requests = (description: string) =>
  Type.Integer({ minimum: 0, maximum: MOST_PER_CYCLE, description, examples: [120] });

const Placed = (usual: string) =>
  Type.Optional(
    Type.Enum(placements, {
      description: `Where in its cycle each request comes: evenly, all at its start, or at random. Default: ${usual}.`,
    }),
  );

const Law = Type.Optional(
  Type.Enum(['exact', 'poisson'], {
    description: 'Whether the counts follow the rate exactly, or by chance around it. Default: exact.',
  }),
);

const Column = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

function Model<const Name extends string, Fields extends TProperties>(name: Name, description: string, fields: Fields) {
  return Type.Object(
    {
      model: Type.Literal(name, { description }),
      ...fields,
      from: Type.Optional(timeField('The model is silent before, and its own time begins here. Default: 0.')),
      to: Type.Optional(timeField('The model is silent from here on. Default: the end of the run.')),
    },
    { additionalProperties: false, description },
  );
}

/** Every model by name, in the order of the documentation. */
export const arrivalModels = {
  constant: Model('constant', 'A steady rate, exact to the request; remainders are carried.', {
    rate: Rate('How many requests come.'),
    placement: Placed('even'),
  }),
  poisson: Model('poisson', 'Requests that know nothing of each other.', {
    rate: Rate('How many requests come, on average.'),
    placement: Placed('random'),
  }),
  ramp: Model('ramp', 'A rate that changes linearly.', {
    start_rate: Rate('The rate at the beginning.'),
    end_rate: Rate('The rate at the end, and after it.'),
    over: Type.Optional(timeField('How long the change takes, at least one cycle. Default: until `to`.')),
    repeat: Type.Optional(Type.Boolean({ description: 'Whether it begins again when it is over: a sawtooth.' })),
    law: Law,
    placement: Placed('even; with law poisson, random'),
  }),
  burst: Model('burst', 'A rate that steps up and back.', {
    base_rate: Type.Optional(Rate('The rate outside of bursts. Default: 0.')),
    burst_rate: Rate('The rate during a burst.'),
    at: Type.Optional(timeField('When the first burst begins. Default: 0.')),
    for: Type.Optional(timeField('How long a burst lasts, at least one cycle. Default: until `to`.')),
    every: Type.Optional(timeField('From the beginning of a burst to that of the next. Default: there is one.')),
    law: Law,
    placement: Placed('even; with law poisson, random'),
  }),
  spikes: Model('spikes', 'Many requests in one cycle, again and again.', {
    requests: Requests('How many requests a spike has.'),
    at: Type.Optional(timeField('When the first spike comes. Default: 0.')),
    every: Type.Optional(timeField('From one spike to the next, at least one cycle. Default: there is one.')),
    placement: Placed('start'),
  }),
  sine: Model('sine', 'A rate that swings around its mean, as over a day.', {
    rate: Rate('The mean rate.'),
    amplitude: Rate('How far the rate swings to either side; not above the mean rate.'),
    period: timeField('How long one swing takes, at least one cycle.'),
    phase: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Where in its swing it begins: 0 mean and rising, 0.25 peak, 0.5 mean and falling, 0.75 trough.',
      }),
    ),
    law: Law,
    placement: Placed('even; with law poisson, random'),
  }),
  onoff: Model('onoff', 'Poisson requests at one of two rates, each held for a time by chance (MMPP).', {
    on_rate: Rate('The rate while on.'),
    off_rate: Type.Optional(Rate('The rate while off. Default: 0.')),
    on_for: timeField('How long it is on, on average; at least a hundredth of a cycle.'),
    off_for: timeField('How long it is off, on average; at least a hundredth of a cycle.'),
  }),
  pareto: Model('pareto', 'Heavy-tailed gaps between requests: crowds, and long silences.', {
    rate: Rate('How many requests come in the long run; the mean gap is its inverse.'),
    shape: Type.Number({
      minimum: 1.01,
      maximum: 100,
      description: 'Shape of the Pareto law of the gaps: the nearer to 1 the heavier its tail; up to 2 of no variance.',
    }),
  }),
  edge: Model('edge', 'Many requests in the last cycle of a window and as many in the first of the next.', {
    requests: Requests('How many requests come on each side of the boundary.'),
    within: Type.Optional(timeField('Length of a window, at least one cycle. Default: that of the limiter.')),
    boundary: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Which boundary: 1, the default, lies between the first window and the second.',
      }),
    ),
    placement: Placed('start'),
  }),
  counts: Model('counts', 'Requests listed cycle by cycle.', {
    counts: Type.Array(Requests('Requests in this cycle.'), {
      minItems: 1,
      maxItems: 1_000_000,
      description: 'How many requests come in each cycle, from the first.',
    }),
    repeat: Type.Optional(Type.Boolean({ description: 'Whether the list begins again; else there is silence.' })),
    placement: Placed('even'),
  }),
  log: Model('log', 'The requests of a log, cycle by cycle.', {
    file: Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'Path of the log, from the folder of the scenario.',
    }),
    format: Type.Optional(Type.Enum(logFormats, { description: 'Format of the log. Default: recognised.' })),
    time_column: Column('Column, or field, with the time of a request. Default: recognised.'),
    count_column: Column('Column with the number of requests of a row. Default: recognised; else each row is one.'),
    key_column: Column('Column whose values are the clients: one contract for each.'),
    spread: Type.Optional(timeField('Interval over which the requests of a row are spread from its time. Default: 0.')),
    placement: Placed('even'),
  }),
} as const;

type ArrivalModel = keyof typeof arrivalModels;

/** One arrival of a scenario. `arrivalFaults` gives better messages: it uses the schema of its model only. */
export const ArrivalSpec = Type.Union(Object.values(arrivalModels), {
  description: 'When requests come: one of the models, distinguished by `model`.',
});

export type ArrivalSpec = { [Name in ArrivalModel]: Static<(typeof arrivalModels)[Name]> }[ArrivalModel];

/** Every fault of an arrival, by the rules of its own model only. Paths are JSON pointers that start with `place`. */
export function arrivalFaults(input: unknown, place = ''): Fault[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return [{ path: place, message: 'must be an object with a field model' }];
  }
  const model = (input as { model?: unknown }).model;
  if (!isModel(model)) return [{ path: `${place}/model`, message: unknownModel(model) }];
  return valueFaults(arrivalModels[model], input, place);
}

function isModel(model: unknown): model is ArrivalModel {
  return typeof model === 'string' && Object.hasOwn(arrivalModels, model);
}

function unknownModel(model: unknown): string {
  const names = Object.keys(arrivalModels);
  const among = `one of ${names.join(', ')}`;
  if (model === undefined) return `is required: ${among}`;
  const guess = typeof model === 'string' ? nearest(model, names) : undefined;
  return guess === undefined ? `must be ${among}` : `must be ${among}; did you mean "${guess}"?`;
}
