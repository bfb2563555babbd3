// A name in a path, a query or a body is taken as an ordinary name or refused in words; never with a status of 500 and above.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { forAllAsync } from '../draws.js';
import { nodeOfFile } from './node-of-file.js';

const node = await nodeOfFile();
const owner = node.owner();
const contract = await owner.contractOn('names', { within: 10 });

const inherited = Object.getOwnPropertyNames(Object.prototype);
const names = fc.oneof(fc.constantFrom(...inherited, 'prototype', 'then', 'toJSON'), fc.string({ minLength: 1 }));

const event = '"type":"request"';
const definition = (from = '', to = '') => JSON.stringify(rateLimiter({ threshold: 2, within: 10 })).replace(from, to);

it.each<[method: string, path: string, body?: string]>([
  ['GET', '/api/NAME'],
  ['GET', '/api/clock?NAME=1'],
  ['GET', '/api/contracts/templates/NAME'],
  ['POST', '/api/contracts/templates/NAME/deploy', '{"slug":"names"}'],
  ['GET', '/api/operators/NAME'],
  ['GET', '/api/chain/state-machines/NAME'],
  ['GET', '/api/chain/NAME/contracts'],
  ['GET', '/api/chain/names/contracts/NAME'],
  ['GET', '/api/chain/names/contracts?NAME=1'],
  ['POST', '/api/chain/names/contracts/NAME/gate'],
  ['POST', '/api/chain/names/contracts/CONTRACT/gate?NAME=1'],
  ['GET', '/api/chain/names/state?NAME=1'],
  ['DELETE', '/api/keys/NAME'],
  ['POST', '/api/keys/NAME/rotate', '{}'],
  ['POST', '/api/keys', '{"scopes":["NAME"]}'],
  ['POST', '/api/keys', '{"scopes":["read"],"machine":"NAME"}'],
  ['POST', '/api/chain/state-machines', '{"slug":"other","NAME":1}'],
  ['POST', '/api/contracts/templates/rate-limiter/deploy', '{"slug":"names","NAME":1}'],
  ['POST', '/api/chain/names/event', '{"type":"NAME"}'],
  ['POST', '/api/chain/names/event', `{${event},"NAME":1}`],
  ['POST', '/api/chain/names/event', `{${event},"contract_id":"NAME"}`],
  ['POST', '/api/chain/names/events', '[{"type":"NAME"}]'],
  ['POST', '/api/chain/names/events', `[{${event},"NAME":1}]`],
  ['POST', '/api/chain/names/contracts/CONTRACT/transition', '{"to":"NAME"}'],
  ['POST', '/api/chain/names/contracts/CONTRACT/transition', '{"to":"limiting","inputs":{"NAME":1}}'],
  ['POST', '/api/chain/names/contracts', definition('"operator":"KO42"', '"operator":"KO42","inputs":{"NAME":1}')],
  ['POST', '/api/chain/names/contracts', definition('{', '{"NAME":1,')],
  ['POST', '/api/chain/names/contracts', definition('KO42', 'NAME')],
  ['POST', '/api/core/shift', '{"inputs":{"NAME":1}}'],
  ['POST', '/api/core/shift', '{"NAME":1}'],
])('a name that every object has is refused, and no name ends in 5xx: %s %s %s', async (method, path, body) => {
  const answerTo = async (name: string) => {
    const place = path.replace('NAME', encodeURIComponent(name)).replace('CONTRACT', contract);
    const text = body?.replace('"NAME"', () => JSON.stringify(name));
    return (await owner.ask(method, place, text)).status;
  };
  // Events in bulk are refused one by one, in the answer.
  const isAnswered = path.endsWith('/events');
  for (const name of inherited) {
    const status = await answerTo(name);
    expect([name, status >= 400 || isAnswered, status < 500]).toEqual([name, true, true]);
  }
  await forAllAsync([names], 60, async (name) => (await answerTo(name)) < 500);
});

it('a state called constructor is a state', async () => {
  const body = definition().replaceAll('"limiting"', '"constructor"');
  const made = await owner.post('/api/chain/names/contracts', body);
  const { id } = made.body.contract;
  const path = `/api/chain/names/contracts/${id}`;
  const moved = await owner.post(`${path}/transition`, { to: 'toString' });
  expect([made.status, moved.status]).toEqual([201, 409]);
  await owner.post('/api/chain/names/event', { type: 'request', count: 3, contract_id: id });
  expect((await owner.get(path)).body.contract.currentState).toBe('constructor');
});
