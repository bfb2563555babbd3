import { beforeAll, describe, expect, it } from 'vitest';
import { inChromium } from '../chromium.js';
import { type Serving, serve, temporaryFolder } from '../cli/command-line.js';
import { ask } from './asking.js';
import { Holder } from './caller.js';
import { hasRedis, RedisServer } from './network/redis/server.js';
import { hiddenPixels, LOOKS, openPage, violations } from './node-page.js';

describe.skipIf(!hasRedis)('the home of a network (needs redis-server)', () => {
  inChromium('in a browser', (browser) => {
    let redis: RedisServer;
    let nodes: Serving[];
    const folders = [temporaryFolder(), temporaryFolder()];
    // A busy machine is late: the deadline is no part of this.
    const start = (index: number) =>
      serve([
        ...['--store', `${redis.url}?deadline_ms=10000`, '--data', folders[index]!],
        ...['--log-level', 'error', '--cycle-ms', '200'],
      ]);

    beforeAll(async () => {
      redis = await RedisServer.start();
      nodes = [await start(0), await start(1)];
    });

    it('the home shows each node with its key, up or away; one that comes back is up, one that was shut down is gone', async () => {
      const { page, complaints } = await openPage(browser, nodes[0]!.url);
      const shown = page.locator('#nodes li');
      const rowOf = (node: Serving) => shown.filter({ hasText: node.fingerprint });
      const says = (node: Serving, text: RegExp) => rowOf(node).getByText(text).waitFor();
      await says(nodes[1]!, /^up for/);
      const [first, second] = [await rowOf(nodes[0]!).innerText(), await rowOf(nodes[1]!).innerText()];
      expect([first, second].map((text) => text.includes('this node'))).toEqual([true, false]);
      expect(first).toContain(new URL(nodes[0]!.url).host);
      expect(second).toMatch(/clock\s[+−]\d+ ms/);
      expect(await shown.count()).toBe(2);

      await nodes[1]!.stop('SIGKILL');
      await says(nodes[1]!, /^away for/);
      await page.getByText('1 of 2 nodes up').waitFor();
      for (const [width, colorScheme] of LOOKS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        expect([await hiddenPixels(page), await violations(page)]).toEqual([0, []]);
      }

      nodes[1] = await start(1);
      await says(nodes[1]!, /^up for/);
      expect(await shown.count()).toBe(2);

      await nodes[1]!.stop();
      await expect.poll(() => shown.count()).toBe(1);
      expect(complaints).toEqual([]);
    });

    it('the page of a machine shows the count of all nodes, as any of them says it, and no figure that is not known', async () => {
      const owner = await Holder.minted(nodes[0]!.url);
      const id = await owner.contractOn('shared', { threshold: 10, within: 5_000 }, true);
      const other = await start(1);
      const { page, complaints } = await openPage(browser, `${other.url}/m/shared`);
      const figures = page.locator('.contract .figures dd');
      const shown = async () => (await figures.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
      await expect.poll(shown).toEqual(['0 of 10', '– – in chart', '– – in chart']);
      for (const node of [nodes[0]!, other, nodes[0]!]) await owner.at(node).event('shared', { count: 4 });
      expect((await owner.get(`/api/chain/shared/contracts/${id}`)).body.contract.count).toBe(12);
      await expect.poll(shown).toEqual(['12 of 10', '– – in chart', '– – in chart']);
      await page.locator('.contract .doing', { hasText: 'limiting' }).waitFor();
      expect(complaints).toEqual([]);
      await other.stop();
    });

    it('/api/nodes tells of each node what it is; a node by itself lists none, and its home shows no network', async () => {
      const { nodes: listed, cycle } = await ask(nodes[0]!.url, 'GET', '/api/nodes');
      expect(listed).toEqual([
        {
          ...{ fingerprint: nodes[0]!.fingerprint, address: nodes[0]!.url, is_this: true, is_up: true },
          ...{ version: expect.any(String), since_cycle: expect.any(Number), clock_offset_ms: expect.any(Number) },
        },
      ]);
      expect(listed[0].since_cycle).toBeLessThanOrEqual(cycle);
      const alone = await serve(['--store', 'memory', '--log-level', 'error']);
      expect((await ask(alone.url, 'GET', '/api/nodes')).nodes).toEqual([]);
      const { page } = await openPage(browser, alone.url);
      await page.getByText(alone.fingerprint).waitFor();
      expect(await page.getByText('The network').count()).toBe(0);
    });
  });
});
