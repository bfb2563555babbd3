// The shape of an arrival in a scenario: one object for each model, distinguished by `model`.
import type { Static } from 'typebox';
import { Type } from '../../../core/schema/json-schema.js';
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
