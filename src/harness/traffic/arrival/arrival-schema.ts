// The shape of an arrival in a scenario: one object for each model, distinguished by `model`.
import type { Static } from 'typebox';
import { nearest } from '../../../core/schema/did-you-mean.js';
import type { Fault } from '../../../core/schema/failure.js';
import { Type } from '../../../core/schema/json-schema.js';
import { valueFaults } from '../../../core/schema/value-faults.js';
import { burst } from './burst.js';
import { constant } from './constant.js';
import { edge } from './edge.js';
import { onoff } from './onoff.js';
import { pareto } from './pareto.js';
import { poisson } from './poisson.js';
import { ramp } from './ramp.js';
import { counts, log } from './recorded.js';
import { sine } from './sine.js';
import { spikes } from './spikes.js';

export const arrivalKinds = { constant, poisson, ramp, burst, spikes, sine, onoff, pareto, edge, counts, log };

type ArrivalModel = keyof typeof arrivalKinds;

export const ArrivalSpec = Type.Union(
  Object.values(arrivalKinds).map(({ schema }) => schema),
  { description: 'When requests come: one of the models, distinguished by `model`.' },
);

export type ArrivalSpec = { [Name in ArrivalModel]: Static<(typeof arrivalKinds)[Name]['schema']> }[ArrivalModel];

/** Applies only the schema of the given model. Paths are JSON pointers that start with `place`. */
export function arrivalFaults(input: unknown, place = ''): Fault[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return [{ path: place, message: 'must be an object with a field model' }];
  }
  const model = (input as { model?: unknown }).model;
  if (!isModel(model)) return [{ path: `${place}/model`, message: unknownModel(model) }];
  return valueFaults(arrivalKinds[model].schema, input, place);
}

function isModel(model: unknown): model is ArrivalModel {
  return typeof model === 'string' && Object.hasOwn(arrivalKinds, model);
}

function unknownModel(model: unknown): string {
  const names = Object.keys(arrivalKinds);
  const among = `one of ${names.join(', ')}`;
  if (model === undefined) return `is required: ${among}`;
  const guess = typeof model === 'string' ? nearest(model, names) : undefined;
  return guess === undefined ? `must be ${among}` : `must be ${among}; did you mean "${guess}"?`;
}
