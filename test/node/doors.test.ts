// What a node lets in by the name it is asked for, what it shows to anyone, and what it makes of the permissions of its folder.
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostCheck } from '../../src/api/host-names.js';
import { makePrivate } from '../../src/core/files/private-file.js';
import { openStorage } from '../../src/node/node-storage.js';
import { temporaryFolder } from '../left-behind.js';
import { plainly, Raw } from './raw.js';
import { startRunning } from './running.js';

const holds = (address: string, names: string[], host: string | undefined) => {
  try {
    hostCheck(address, names)(host);
    return true;
  } catch {
    return false;
  }
};

// biome-ignore format: one case a line
it.each([
  ['127.0.0.1', [], ['127.0.0.1:7770', 'localhost', 'LOCALHOST:1', '[::1]:7770', 'a.localhost', undefined], []],
  [
    '127.0.0.1',
    [],
    [],
    [
      'evil.example',
      'evil.example:7770',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '',
      'a:b:c',
      '10.0.0.1',
    ],
  ],
  ['127.0.0.1', ['API.example.org'], ['api.example.org', 'api.example.org:443', 'localhost'], ['example.org', 'x.api.example.org']],
  [
    '0.0.0.0',
    [],
    ['10.0.0.1:7770', '203.0.113.7', '[2001:db8::1]:7770', 'weir:7770', 'node-1', 'localhost', undefined],
    ['anything.example', 'weir.', '10.0.0.1.evil.example', '', 'a:b:c', '[evil.example]'],
  ],
  ['::', ['api.example.org'], ['api.example.org:443', '10.0.0.1'], ['example.org']],
  ['10.0.0.1', ['api.example.org'], ['10.0.0.1:7770', 'api.example.org', 'localhost', 'weir'], ['evil.example']],
])('a node on %s with the names %j answers to %j, and not to %j', (address, names, good, bad) => {
  for (let times = 0; times < 2; times += 1) {
    expect(good.filter((host) => !holds(address, names, host))).toEqual([]);
    expect(bad.filter((host) => holds(address, names, host))).toEqual([]);
  }
});

it('every route looks at the name that a request is for, also on the port of the figures', async () => {
  const node = await startRunning({ metricsPort: 0 });
  const { body } = await node.ask('GET', '/api/endpoints');
  const routes = body.endpoints as { method: string; path: string }[];
  // A name that a page of another site gave this address.
  const rebound = async (url: string, method: string, path: string) =>
    (await plainly(url, method, path, { host: 'evil.example' })).status;
  const statuses = await Promise.all(
    routes.map(({ method, path }) => rebound(node.url, method, path.replace('?', ''))),
  );
  const figures = await rebound(node.metricsUrl!, 'GET', '/metrics');
  await node.close();
  expect([new Set(statuses), figures]).toEqual([new Set([421]), 421]);
});

it('a request with two lines Host is refused, whichever is good', async () => {
  const node = await startRunning({ metricsPort: 0 });
  const own = new URL(node.url).host;
  const ask = async (url: string, hosts: string[]) => {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
    const { pathname } = new URL(url);
    const raw = new Raw(url).send(`GET ${pathname} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
    return (await raw.ended()).text.split(' ')[1];
  };
  const clock = `${node.url}/api/clock`;
  const statuses = [
    await ask(clock, [own]),
    await ask(clock, [own, 'evil.example']),
    await ask(clock, ['evil.example', own]),
    await ask(clock, [own, own]),
    await ask(clock, [`${own}\r\n${'a:\r\n'.repeat(2_000)}a:`, 'evil.example']),
    await ask(node.metricsUrl ?? '', [own, own]),
  ];
  expect(statuses).toEqual(['200', '400', '400', '400', '400', '400']);
});

it('the figures are closed unless a port or the door beside the API is asked for', async () => {
  const node = await startRunning({ openMetrics: false });
  const { status } = await node.ask('GET', '/metrics');
  expect([status, node.metricsUrl]).toEqual([404, undefined]);
});

describe.skipIf(process.platform === 'win32')('permissions', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
  const open = (dir: string) => openStorage({ dir, cycleMs: 50, onError: () => {} });

  it('the permissions of the key, the database and the folder are tightened at start, in words', () => {
    const dir = join(temporaryFolder(), 'data');
    const first = open(dir);
    first.store.close();
    for (const [name, mode] of [
      ['', 0o777],
      ['node.json', 0o644],
      ['weir.db', 0o660],
    ] as const)
      chmodSync(join(dir, name), mode);
    const again = open(dir);
    again.store.close();
    expect([first.notes, again.notes.map((note) => note.replace(dir, 'DIR'))]).toEqual([
      [],
      [
        'other users of this machine could change DIR: its permissions are tightened now.',
        'other users of this machine could read DIR/node.json: its permissions are tightened now.',
        'other users of this machine could change DIR/weir.db: its permissions are tightened now.',
        // The log of the database is made with the permissions of the database.
        'other users of this machine could change DIR/weir.db-wal: its permissions are tightened now.',
      ],
    ]);
    expect(['', 'node.json', 'weir.db'].map((name) => modeOf(join(dir, name)))).toEqual(['755', '600', '600']);
  });

  it('the permissions of a folder with the sticky bit, and of one that others only look into, stay', () => {
    const dir = join(temporaryFolder(), 'shared');
    mkdirSync(dir);
    for (const mode of [0o1777, 0o755, 0o700]) {
      chmodSync(dir, mode);
      expect([makePrivate(dir), modeOf(dir)]).toEqual([undefined, mode.toString(8)]);
    }
    expect(makePrivate(join(dir, 'nothing'))).toBeUndefined();
  });
});
