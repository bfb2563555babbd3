// Fields that several rules share, so that a name means the same in all of them.
import { real, whole } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { MAX_MS } from '../../schema/quantity.js';

export const length = (description: string) => real(0.001, MAX_MS, description);

export const wait = (description: string) => real(0, MAX_MS, description);

export const count = (description: string, minimum = 1) => whole(minimum, 1_000_000_000_000, description);

export const places = (description: string) => whole(1, 1_000_000, description);

export const amount = (description: string, minimum = 0) => real(minimum, 1_000_000_000_000, description);

export const flag = (description: string) => Type.Boolean({ description: `${description} Default: false.` });

export const limit = count('How much is admitted in a window.');

export const windowMs = length('Length of the window in ms.');

export const phaseMs = wait('How much later than the multiples of the window its edges lie, in ms. Default: 0.');

export const blockMs = wait('A request that exceeds blocks the key for so long, in ms. Default: 0, no block.');

export const blockToEnd = flag('A refused request blocks the key until the end of the window, that ms included.');

export const countRefused = flag('Refused requests count, too.');

export const resetEdge = Type.Enum(['reset_at_end', 'reset_after_end'], {
  description:
    'Whether a request exactly at the end is in the new window (reset_at_end) or in the old one. Default: reset_at_end.',
});

export const expiryEdge = Type.Enum(['expires_at_end', 'expires_after_end'], {
  description:
    'Whether an entry that is exactly one window old has gone (expires_at_end) or not yet. Default: expires_at_end.',
});

export const counts = Type.Enum(['cost', 'requests'], {
  description: 'What it counts: what a request costs, or each request as 1. Default: cost; without costs each costs 1.',
});
