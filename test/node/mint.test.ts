import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../src/core/time/virtual.js';
import type { DecisionRequest } from '../../src/node/counting/decision.js';
import { decideNow } from '../../src/node/counting/local/deciding.js';
import { Host } from '../../src/node/host/host.js';
import { MINT_MACHINE, Mint } from '../../src/node/mint.js';
import type { Registry } from '../../src/node/registry/registry.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { Caller, inTurn, statusAndCode } from './caller.js';
import { startRunning } from './running.js';

function limited(limits = { threshold: 2, within: 5, addresses: 3 }) {
  const clock = new VirtualClock(1_000, 1);
  const host = new Host({ clock, store: new MemoryStore() });
  const context = {
    ...{ host, limits },
    registry: {
      createMachine: async (asked: Parameters<Host['createMachine']>[0]) => host.createMachine(asked),
      createContract: async (...[machine, plan, options]: Parameters<Registry['createContract']>) =>
        host.createPlanned(machine.slug, plan, options),
      deleteContract: async () => ({ contracts: 1, window_cycles: 0, key_cells: 0, definition_bytes: 0 }),
    },
    counting: {
      decide: (asked: DecisionRequest) => decideNow(asked, clock.cycle(), clock.now()),
    },
  };
  let mint = new Mint(context);
  const retryAfter = (address: string) => mint.retryAfterCycles(address);
  const ask = async (address: string) => (await retryAfter(address)) === 0;
  const asks = (...addresses: string[]) => inTurn(addresses, ask);
  const wait = (cycles: number) => clock.run({ untilMs: clock.now() + cycles });
  const restart = () => {
    mint = new Mint(context);
  };
  return { asks, retryAfter, wait, restart, host, contracts: () => host.machines.get(MINT_MACHINE)?.contracts.length };
}

/** Addresses that share no network. */
const [A, B, C, D, E, F] = ['1.0.0.1', '2.0.0.1', '3.0.0.1', '4.0.0.1', '5.0.0.1', '6.0.0.1'] as const;

describe('an address mints so many keys', () => {
  it('within so many cycles, and refused requests count', async () => {
    const { asks, wait } = limited();
    expect(await asks(A, A, A, B)).toEqual([true, true, false, true]);
    wait(4);
    expect(await asks(A)).toEqual([false]);
    wait(5);
    expect(await asks(A)).toEqual([true]);
  });

  it('and a newcomer takes over what has rested, once its window is empty', async () => {
    const { asks, wait } = limited();
    expect(await asks(A, B, C, D)).toEqual([true, true, true, false]);
    wait(2);
    expect(await asks(A)).toEqual([true]);
    wait(3);
    // B and C have rested for a whole window, A has not.
    expect(await asks(D, E, F)).toEqual([true, true, false]);
  });

  it('and who is refused is admitted after the wait that the answer names', async () => {
    const { asks, retryAfter, wait } = limited();
    await asks(A, A, B, C);
    const after = await retryAfter(A);
    wait(after - 1);
    expect([after, await retryAfter(A)]).toEqual([5, 1]);
    wait(5);
    expect(await asks(A)).toEqual([true]);
  });

  it('and where all are counted a newcomer is admitted after the wait that the answer names', async () => {
    const { asks, retryAfter, wait } = limited();
    await asks(A, B, C);
    const after = await retryAfter(D);
    expect([after > 0, after <= 5]).toEqual([true, true]);
    wait(after);
    expect(await asks(D)).toEqual([true]);
  });

  it('by two contracts, which are used again after a restart', async () => {
    const { asks, restart, contracts } = limited();
    await asks(A, B, C);
    restart();
    expect([...(await asks(D, A, A)), contracts()]).toEqual([false, true, false, 2]);
  });
});

describe('POST /api/demo-key/mint', () => {
  it('gives a key with which its owner can do something, until the address has had enough', async () => {
    const node = await startRunning({ limits: { mint: { threshold: 2, within: 60, addresses: 5 } } });
    const mint = (body?: object) => node.ask('POST', '/api/demo-key/mint', { body });
    const [first, second, third] = [await mint(), await mint({}), await mint()];
    const created = await new Caller(node.url, first.body.key).createMachine('mine');
    await node.close();
    expect([created.status, second.status, ...statusAndCode(third)]).toEqual([201, 201, 429, 'too_many_requests']);
    expect(second.body.owner).not.toBe(first.body.owner);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(46);
  });

  it('believes a forwarded address only from a proxy it was told of', async () => {
    const mint = { threshold: 1, within: 60, addresses: 5 };
    const plain = await startRunning({ limits: { mint } });
    const behind = await startRunning({ limits: { mint }, trustProxy: ['127.0.0.1'] });
    const statuses: number[] = [];
    for (const node of [plain, behind]) {
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2']) {
        const { status } = await node.ask('POST', '/api/demo-key/mint', { headers: { 'x-forwarded-for': address } });
        statuses.push(status);
      }
      await node.close();
    }
    expect(statuses).toEqual([201, 429, 429, 201, 201, 429]);
  });
});
