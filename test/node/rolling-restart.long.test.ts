// Two nodes of one network behind real gateways of Debian, restarted one after the other, with the configuration of `weir help operations`:
// no request is lost, and none is let through because the node would be away. WEIR_RESTARTS=100 for more of them.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Serving, serve, temporaryFolder } from '../cli/command-line.js';
import { type App, gateways, startApp } from '../harness/live/gateway-servers.js';
import { isInstalled } from '../harness/live/real-servers.js';
import { afterFile } from '../left-behind.js';
import { freePort } from '../loopback.js';
import { Holder } from './caller.js';
import { hasRedis, RedisServer } from './network/redis/server.js';

const RESTARTS = Number(process.env['WEIR_RESTARTS'] ?? 2);
const PER_SECOND = Number(process.env['WEIR_RATE'] ?? 500);
const EVERY_MS = 10;
const SHOWN = 'src/cli/topics/operations.md';

/** What the topic shows for a gateway, with the ports of the nodes. */
function shown(language: string, ports: readonly number[]): string {
  const [, text = ''] =
    readFileSync(SHOWN, 'utf8')
      .split(`\`\`\`${language}\n`)[1]!
      .match(/^([\s\S]*?)\n```/) ?? [];
  return text.replace(/\b777([12])\b/g, (_, which) => String(ports[Number(which) - 1]));
}

const told = ['nginx', 'haproxy'].every(isInstalled) && hasRedis;

describe.skipIf(!told)('a restart of two nodes, one after the other (needs nginx, haproxy and redis-server)', () => {
  let redis: RedisServer;
  let app: App;
  let nodes: Serving[];
  let ports: number[];
  let gate: { readonly contractId: string; readonly key: string };
  const data = join(temporaryFolder(), 'key');
  const start = (port: number) =>
    serve(
      [
        ...['--store', `${redis.url}?deadline_ms=10000`, '--data', data, '--port', `${port}`],
        ...'--cycle-ms 777 --drain 2s --log-level silent --metrics 0'.split(' '),
      ],
      {},
      afterFile,
    );

  beforeAll(async () => {
    redis = await RedisServer.start();
    app = await startApp();
    ports = [await freePort(), await freePort()];
    nodes = [await start(ports[0]!), await start(ports[1]!)];
    const owner = await Holder.minted(nodes[0]!.url);
    gate = { contractId: await owner.contractOn('edge', { threshold: 1_000_000, within: 60 }), key: owner.key };
  });

  it.each(['nginx', 'HAProxy'] as const)(
    'a restart of two nodes, one after the other, behind %s loses nothing, and lets nothing through',
    async (name) => {
      const front = await freePort();
      const places = { ...gate, node: `127.0.0.1:${front}`, app: new URL(app.url).host };
      const lines = shown(name.toLowerCase(), ports).replace('7770', `${front}`);
      // They take the place of the one node of the recipe.
      const gateway = await gateways[name].start(places, 'patiently', (text) =>
        name === 'nginx' ? text.replace(/^upstream weir \{[\s\S]*?^\}/m, lines) : `${text}\n${lines}\n`,
      );
      const asking = new Asking(gateway.url);
      for (let restarted = 0; restarted < RESTARTS; restarted += 1) {
        const which = restarted % 2;
        expect(await nodes[which]!.stop()).toBe(0);
        nodes[which] = await start(ports[which]!);
        // Until the balancer has found it again.
        await asking.more(1_000);
      }
      const { sent, outcomes } = await asking.end();
      await gateway.close();
      process.stdout.write(`${name}: ${RESTARTS} restarts, ${sent} requests: ${JSON.stringify(outcomes)}\n`);
      expect(outcomes).toEqual({ 'decided by the gate': sent });
    },
  );
});

/** Requests on kept connections, at a steady rate. */
class Asking {
  sent = 0;
  readonly outcomes: Record<string, number> = {};
  readonly #waiting = new Set<Promise<void>>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #timer: NodeJS.Timeout;

  constructor(url: string) {
    const startMs = performance.now();
    this.#timer = setInterval(() => {
      const due = Math.min(((performance.now() - startMs) * PER_SECOND) / 1_000, this.sent + PER_SECOND);
      for (; this.sent < due; this.sent += 1) {
        const asked = this.#ask(url).then((outcome) => {
          this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1;
          this.#waiting.delete(asked);
        });
        this.#waiting.add(asked);
      }
    }, EVERY_MS);
  }

  async more(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
  }

  async end() {
    clearInterval(this.#timer);
    await Promise.all(this.#waiting);
    this.#agent.destroy();
    return { sent: this.sent, outcomes: this.outcomes };
  }

  async #ask(url: string): Promise<string> {
    try {
      const [answer] = await once(get(url, { agent: this.#agent }), 'response');
      await once(answer.resume(), 'end');
      // A gateway that is open says nothing of the limit.
      const isDecided = answer.headers['ratelimit'] !== undefined;
      if (answer.statusCode === 200) return isDecided ? 'decided by the gate' : 'let through';
      return String(answer.statusCode);
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code);
    }
  }
}
