// compose.yaml: its commands and its configuration of nginx, run as processes on free ports, serve what the lines of `weir help network` serve.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../left-behind.js';
import { freePort } from '../loopback.js';
import { ask } from '../node/asking.js';
import { gateOf, Holder, inTurn } from '../node/caller.js';
import { hasRedis, said, until } from '../node/network/redis/server.js';

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>>;
}

const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true });
const services: Readonly<Record<string, Service>> = compose.services;
const nodes = ['node1', 'node2', 'node3'] as const;
const hasNginx = spawnSync('nginx', ['-v']).status === 0;

it('the services of compose.yaml name only what is there', () => {
  expect(Object.keys(services)).toEqual(['redis', ...nodes, 'front']);
  for (const { depends_on = {} } of Object.values(services))
    for (const [name, { condition }] of Object.entries(depends_on)) {
      expect(services).toHaveProperty(name);
      expect(condition).toBe('service_healthy');
      expect(services[name]).toHaveProperty('healthcheck');
    }
  for (const name of nodes) {
    expect(services[name]!.command).toContain('redis://redis:6379');
    expect(services[name]!.command).toContain(compose.networks.default.ipam.config[0].subnet);
    expect(compose.configs.front.content).toContain(`server ${name}:7770;`);
  }
});

describe.skipIf(!hasRedis || !hasNginx)('the services as processes (needs redis-server and nginx)', () => {
  const dir = temporaryFolder();
  const children: ChildProcess[] = [];
  const urls: string[] = [];
  let front: string;
  let byLines: string;

  /** @throws Error with its last words if it ends before it has said this */
  const start = async (command: string, args: readonly string[], text: string) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    return said(child, text);
  };

  /** On another port where another process has taken the one that was free. */
  async function startOn(run: (port: number) => Promise<unknown>): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const port = await freePort();
      try {
        await run(port);
        return port;
      } catch (error) {
        if (tries === 5 || !/in use|does already/i.test((error as Error).message)) throw error;
      }
    }
  }

  beforeAll(async () => {
    const [redis, ...redisArgs] = services['redis']!.command;
    const redisPort = await startOn((port) =>
      start(
        redis!,
        [...redisArgs, '--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
        'Ready to accept connections',
      ),
    );
    let conf: string = compose.configs.front.content.replaceAll('$$', '$');
    for (const name of nodes) {
      const port = await startOn((port) => {
        const places: Readonly<Record<string, string>> = {
          // A busy machine is late: the deadline is no part of this.
          'redis://redis:6379': `redis://127.0.0.1:${redisPort}?deadline_ms=10000`,
          '/data': join(dir, 'key'),
          '0.0.0.0': '127.0.0.1',
          '7770': String(port),
        };
        const words = services[name]!.command.map((word) => places[word] ?? word);
        // The entry point of the container.
        return start(process.execPath, ['dist/cli/main.js', ...words], `127.0.0.1:${port}`);
      });
      conf = conf.replace(`${name}:7770`, `127.0.0.1:${port}`);
      urls.push(`http://127.0.0.1:${port}`);
    }
    // Its places for what it buffers are made by root when nginx first starts: here it has its own.
    const buffers = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${dir}/${of};`);
    const head = `daemon off; pid ${dir}/pid; error_log stderr notice; events {} http { access_log off; ${buffers.join(' ')}`;
    const frontPort = await startOn((port) => {
      writeFileSync(join(dir, 'nginx.conf'), `${head}\n${conf.replace('listen 80', `listen 127.0.0.1:${port}`)}}`);
      return start('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], 'start worker process');
    });
    front = `http://127.0.0.1:${frontPort}`;
    await Promise.all([front, ...urls].map((url) => until(() => isReady(url))));
    byLines = await startLines();
  });

  /** The Redis and the nodes of `weir help network`, on free ports. @returns the URL of the second node */
  async function startLines(): Promise<string> {
    const topic = readFileSync('src/cli/topics/network.md', 'utf8');
    const [redis, ...serves] = topic.match(/^(redis-server|weir serve) .*$/gm)!.slice(0, 3);
    const folder = join(dir, 'lines');
    mkdirSync(folder);
    const wordsOf = (line: string) => line.replaceAll("''", '').split(' ').slice(1);
    const redisPort = await startOn((port) =>
      start(
        'redis-server',
        [...wordsOf(redis!.replace('6379', String(port))), '--bind', '127.0.0.1', '--dir', folder],
        'Ready to accept connections',
      ),
    );
    let last = 0;
    for (const line of serves)
      last = await startOn((port) => {
        const words = wordsOf(
          line.replace('6379', `${redisPort}?deadline_ms=10000`).replace(/--port \d+/, `--port ${port}`),
        );
        return start(
          process.execPath,
          ['dist/cli/main.js', ...words.map((word) => word.replace('./weir-key', join(folder, 'key')))],
          `127.0.0.1:${port}`,
        );
      });
    expect(serves).toHaveLength(2);
    return `http://127.0.0.1:${last}`;
  }

  afterAll(async () => {
    await Promise.all(
      children.reverse().map((child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        return child.exitCode !== null || !child.kill('SIGTERM') ? undefined : ended;
      }),
    );
  });

  it('the nodes sign with one key', async () => {
    const keys = await Promise.all(urls.map((url) => ask(url, 'GET', '/api/updates/pubkey')));
    expect(new Set(keys.map(({ fingerprint }) => fingerprint)).size).toBe(1);
  });

  it('the composed nodes serve what the lines of the topic serve, and decide as one limiter', async () => {
    const [one, other] = [await served(front), await served(byLines)];
    expect(one).toEqual(other);
    expect(one.statuses).toEqual([200, 200, 200, 200, 429, 429, 429]);
  });
});

async function served(url: string) {
  const { endpoints } = await ask(url, 'GET', '/api/endpoints');
  const owner = await Holder.minted(url);
  const gate = gateOf('edge', await owner.contractOn('edge', { threshold: 4, within: 100_000 }));
  const statuses = await inTurn(Array(7).keys(), async () => (await owner.post(gate)).status);
  const { valid } = await owner.verified('edge');
  return { endpoints, statuses, isValid: valid };
}

function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
