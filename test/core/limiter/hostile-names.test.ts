import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';

// Names that every object has without being given them.
it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf'])(
  'an operator has no input %s',
  (name) => {
    const text = JSON.stringify(rateLimiter()).replaceAll(
      '"operator":"KO42"',
      `"operator":"KO42","inputs":{"${name}":1}`,
    );
    expect(text).toContain(name);
    const path = `/transitions/0/inputs/${name}`;
    const fault = expect.objectContaining({ path, message: expect.stringContaining('is no input of KO42') });
    expect(() => planContract(JSON.parse(text))).toThrow(
      expect.objectContaining({ faults: expect.arrayContaining([fault]) }),
    );
  },
);
