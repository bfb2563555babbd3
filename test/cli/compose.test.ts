// compose.yaml: its commands and its configuration of nginx, run as processes on free ports, serve what `weir up` serves.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort, hasRedis, until } from '../store/redis/server.js';

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>>;
}

const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true });
const services: Readonly<Record<string, Service>> = compose.services;
const nodes = ['node1', 'node2', 'node3'] as const;
const hasNginx = spawnSync('nginx', ['-v']).status === 0;

it('names what is there', () => {
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

describe.skipIf(!hasRedis || !hasNginx)('as processes (needs redis-server and nginx)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'weir-compose-'));
  const children: ChildProcess[] = [];
  const urls: string[] = [];
  let front: string;
  let up: string;

  const start = (command: string, args: readonly string[]) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    return child;
  };

  beforeAll(async () => {
    const [redisPort, frontPort] = [await freePort(), await freePort()];
    const [redis, ...redisArgs] = services['redis']!.command;
    start(redis!, [...redisArgs, '--port', String(redisPort), '--bind', '127.0.0.1', '--dir', dir]);
    let conf: string = compose.configs.front.content.replaceAll('$$', '$');
    for (const name of nodes) {
      const port = await freePort();
      const places: Readonly<Record<string, string>> = {
        'redis://redis:6379': `redis://127.0.0.1:${redisPort}`,
        '/key': join(dir, 'key'),
        '0.0.0.0': '127.0.0.1',
        '7770': String(port),
      };
      const [node, ...args] = services[name]!.command.map((word) => places[word] ?? word);
      conf = conf.replace(`${name}:7770`, `127.0.0.1:${port}`);
      urls.push(`http://127.0.0.1:${port}`);
      // Redis, and then the first node, take a while: what depends on them starts when they are healthy.
      if (name === 'node1') await until(() => spawnSync('redis-cli', ['-p', String(redisPort), 'ping']).status === 0);
      start(node!, args);
      if (name === 'node1') await until(() => isReady(urls[0]!));
    }
    const head = `daemon off; pid ${dir}/pid; error_log /dev/null; events {} http { access_log off;`;
    writeFileSync(join(dir, 'nginx.conf'), `${head}\n${conf.replace('listen 80', `listen 127.0.0.1:${frontPort}`)}}`);
    start('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')]);
    front = `http://127.0.0.1:${frontPort}`;
    await until(() => isReady(front));
    await Promise.all(urls.map((url) => until(() => isReady(url))));
    const args = ['dist/cli/main.js', 'up', '--nodes', '3', '--port', '0', '--data', join(dir, 'up'), '--json'];
    const { stdout } = start(process.execPath, args);
    let text = '';
    for await (const chunk of stdout!) {
      text += chunk;
      if (text.includes('\n')) break;
    }
    up = JSON.parse(text).url;
  });

  afterAll(async () => {
    await Promise.all(
      children.reverse().map((child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        return child.exitCode !== null || !child.kill('SIGTERM') ? undefined : ended;
      }),
    );
    rmSync(dir, { recursive: true, force: true });
  });

  it('the nodes sign with one key', async () => {
    const keys = await Promise.all(urls.map((url) => ask(url, 'GET', '/api/updates/pubkey')));
    expect(new Set(keys.map(({ body }) => body.fingerprint)).size).toBe(1);
  });

  it('serves what weir up serves, and decides as one limiter', async () => {
    const [one, other] = [await served(front), await served(up)];
    expect(one).toEqual(other);
    expect(one.statuses).toEqual([200, 200, 200, 200, 429, 429, 429]);
  });
});

async function served(url: string) {
  const { body: all } = await ask(url, 'GET', '/api/endpoints');
  const { key } = (await ask(url, 'POST', '/api/demo-key/mint')).body;
  await ask(url, 'POST', '/api/chain/state-machines', { slug: 'edge' }, key);
  const limiter = { slug: 'edge', threshold: 4, within: 100_000 };
  const { contract } = (await ask(url, 'POST', '/api/contracts/templates/rate-limiter/deploy', limiter, key)).body;
  const statuses = [];
  for (let asked = 0; asked < 7; asked += 1)
    statuses.push((await ask(url, 'POST', `/api/chain/edge/contracts/${contract.id}/gate`, undefined, key)).status);
  const { body: state } = await ask(url, 'GET', '/api/chain/edge/state/verify', undefined, key);
  return { endpoints: all.endpoints, statuses, isValid: state.valid };
}

async function ask(url: string, method: string, path: string, body?: object, key?: string) {
  const headers = {
    ...(key && { authorization: `Bearer ${key}` }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: (await response.json()) as any };
}

function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
