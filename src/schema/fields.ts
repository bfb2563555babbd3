// Schemas of common fields: a number in a range, a boolean; and objects without other fields.
import { Type } from './json-schema.js';

export const strict = { additionalProperties: false } as const;

export const whole = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });

export const real = (minimum: number, maximum: number, description: string) =>
  Type.Number({ minimum, maximum, description });

export const flag = (description: string) => Type.Boolean({ description });
