// Events with idempotency keys on a node that is killed: all of them are sent again, answered or not, and each has counted once.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newIdempotencyKey } from '../../src/api/client/http-transport.js';
import { WeirClient } from '../../src/api/client/weir-client.js';
import { pause } from '../../src/core/time/wall.js';
import { serve, temporaryFolder } from '../cli/command-line.js';
import { until } from './network/redis/server.js';

const KILLS = 3;
const SENDERS = 8;

it.each(['cycle', 'strict'] as const)(`every event has counted once after ${KILLS} kills: %s`, async (durability) => {
  const data = join(temporaryFolder(), 'data');
  let key: string | undefined;
  let contract = '';
  let sent = 0;
  let repeated = 0;
  let unanswered = 0;
  /** What was sent to the node before. */
  let open: { readonly idempotencyKey: string; readonly count: number }[] = [];
  for (let kill = 0; kill <= KILLS; kill += 1) {
    const node = await serve(['--data', data, '--durability', durability]);
    const anyone = new WeirClient({ url: node.url });
    key ??= (await anyone.call('mintKey')).key;
    const weir = new WeirClient({ url: node.url, key, retries: 0 });
    const send = (one: (typeof open)[number]) =>
      weir.event('edge', { type: 'request', count: one.count }, { idempotencyKey: one.idempotencyKey });
    if (contract === '') {
      await weir.call('createMachine', { body: { slug: 'edge' } });
      const body = { slug: 'edge', threshold: 100, within: 100_000 };
      contract = (await weir.call('deployRateLimiter', { body })).contract.id;
    }
    repeated += open.length;
    let resent = 0;
    for (const one of open) resent = Math.max(resent, (await send(one)).cycle);
    open = [];
    const params = { slug: 'edge', contract_id: contract };
    expect((await weir.call('getContract', { params })).contract.count).toBe(sent);
    if (kill === KILLS) {
      await node.stop();
      break;
    }
    let isDead = false;
    let answered = 0;
    let newest = 0;
    const senders = Array.from({ length: SENDERS }, async (_, sender) => {
      for (let n = 0; !isDead; n += 1) {
        const one = { idempotencyKey: newIdempotencyKey(), count: 1 + ((sender + n) % 3) };
        sent += one.count;
        open.push(one);
        await send(one).then(
          ({ cycle }) => {
            answered += 1;
            newest = cycle;
          },
          () => (unanswered += 1),
        );
      }
    });
    // Some are answered, in a later cycle than what was sent again: only the running cycle may be lost. Then at another place of it each time.
    await until(() => answered > SENDERS && newest > resent);
    await pause(kill * 137);
    await node.stop('SIGKILL');
    isDead = true;
    await Promise.all(senders);
  }
  process.stdout.write(
    `idempotency, ${durability}: ${sent} events, ${repeated} requests sent again after ${KILLS} kills, ${unanswered} of them unanswered\n`,
  );
  expect(Math.min(unanswered, repeated - unanswered)).toBeGreaterThanOrEqual(KILLS);
});
