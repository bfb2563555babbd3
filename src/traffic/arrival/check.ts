// Owns the words for an arrival that does not fit its schema: only its own model's rules are spoken of. Leaves those to schema.ts.

import { nearest } from '../../schema/did-you-mean.js';
import type { Fault } from '../../schema/failure.js';
import { valueFaults } from '../../schema/value-faults.js';
import { type ArrivalModel, arrivalModels } from './schema.js';

/** Every fault of an arrival, its path a JSON pointer from `place`; none when it fits. */
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
