// Redis by TLS alone, as one server, as a cluster and behind a sentinel, with certificates made here; and passwords from the environment.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { redisPlace } from '../../../../src/core/redis/place.js';
import { RedisConnection } from '../../../../src/node/network/redis/connection.js';
import { temporaryFolder } from '../../../left-behind.js';
import { freePort } from '../../../loopback.js';
import { certified, hasOpenssl } from './certificates.js';
import { type Certificates, hasRedis, RedisCluster, RedisServer, tlsArgs, until } from './server.js';

const PASSWORD = 'a secret:with/odd@signs';

const names = ['AUTH', 'SENTINEL_AUTH', 'TLS', 'TLS_CACERT', 'TLS_CLIENT_CERT', 'TLS_CLIENT_KEY', 'TLS_SERVERNAME'];
afterEach(() => {
  for (const name of names) delete process.env[`REDIS_${name}`];
});

/** What a call over a connection gives, or why there is none. */
async function asked(url: string): Promise<unknown> {
  try {
    const connection = await RedisConnection.open({ url, deadlineMs: 5_000 });
    try {
      return await connection.command('INCR', 'key');
    } finally {
      connection.close();
    }
  } catch (error) {
    return (error as { why?: string }).why ?? String(error);
  }
}

describe.skipIf(!hasRedis || !hasOpenssl)('Redis over TLS (needs redis-server and openssl)', () => {
  const folder = temporaryFolder();
  let certificates: Certificates;
  beforeAll(() => {
    certificates = certified(folder, 'redis', 'DNS:redis.test');
  });
  const withTls = () => {
    const { ca, cert, key } = certificates;
    const set = { TLS_CACERT: ca, TLS_CLIENT_CERT: cert, TLS_CLIENT_KEY: key, TLS_SERVERNAME: 'redis.test' };
    for (const [name, value] of Object.entries(set)) process.env[`REDIS_${name}`] = value;
  };

  it('a server is reached only with its authority, its name and a password', async () => {
    const server = await RedisServer.startWith(certificates);
    await server.ask('CONFIG', 'SET', 'requirepass', PASSWORD);
    const without = async (name: string) => {
      withTls();
      process.env['REDIS_AUTH'] = `default:${PASSWORD}`;
      delete process.env[`REDIS_${name}`];
      const found = await asked(server.url);
      process.env['REDIS_TLS_CLIENT_CERT'] = '';
      return found;
    };
    const found = [
      await without('NONE'),
      await without('TLS_CACERT'),
      await without('TLS_SERVERNAME'),
      await without('AUTH'),
    ];
    process.env['REDIS_AUTH'] = `default:${PASSWORD}`;
    withTls();
    process.env['REDIS_TLS'] = 'true';
    found.push(await asked(server.url.replace('rediss', 'redis')));
    expect(found).toEqual([
      1,
      expect.stringMatching(/certificate/),
      expect.stringMatching(/altnames|IP/),
      expect.stringMatching(/NOAUTH|[Aa]uthentication/),
      2,
    ]);
  });

  it('a cluster is reached at every node, also at those that are found', async () => {
    const cluster = await RedisCluster.start(certificates);
    withTls();
    const [first] = cluster.servers;
    const connection = await RedisConnection.open({
      url: `rediss+cluster://127.0.0.1:${first!.port}`,
      deadlineMs: 5_000,
    });
    const keys = Array.from({ length: 20 }, (_, n) => `key-${n}`);
    const answers = await Promise.all(keys.map((key) => connection.command('INCR', key)));
    connection.close();
    const kept = await Promise.all(cluster.servers.map((server) => server.ask<number>('DBSIZE')));
    // The keys, and the length of a cycle.
    expect([answers.every((n) => n === 1), kept.every((n) => n > 0), kept.reduce((all, n) => all + n, 0)]).toEqual([
      true,
      true,
      21,
    ]);
  });

  it('a sentinel and its master are reached', async () => {
    const master = await RedisServer.startWith(certificates);
    const port = await freePort();
    const conf = join(folder, 'sentinel.conf');
    const lines = tlsArgs(port, certificates)
      .join(' ')
      .split(' --')
      .map((line) => line.replace(/^--/, ''));
    writeFileSync(
      conf,
      `${lines.join('\n')}\nbind 127.0.0.1\ndir ${folder}\nrequirepass ${'sentinel'}\nsentinel monitor main 127.0.0.1 ${master.port} 1\n`,
    );
    const sentinel = spawn('redis-server', [conf, '--sentinel'], { stdio: 'ignore' });
    withTls();
    process.env['REDIS_SENTINEL_AUTH'] = 'sentinel';
    const url = `rediss+sentinel://127.0.0.1:${port}/main`;
    let found: unknown;
    await until(async () => {
      found = await asked(url);
      return found === 1 || sentinel.exitCode !== null;
    });
    sentinel.kill('SIGKILL');
    expect(found).toBe(1);
  });
});

const place = (url: string, environment: Record<string, string>) => {
  try {
    const { credentials, tls } = redisPlace(url, environment);
    return { credentials, tls };
  } catch (error) {
    return (error as { why: string }).why;
  }
};

// biome-ignore format: one case a line
it.each<[string, Record<string, string>, unknown]>([
  ['redis://h', { REDIS_AUTH: 'secret' }, { credentials: { password: 'secret' }, tls: undefined }],
  ['redis://h', { REDIS_AUTH: 'me:a:b' }, { credentials: { username: 'me', password: 'a:b' }, tls: undefined }],
  ['redis://me@h', { REDIS_AUTH: 'b' }, { credentials: { username: 'me', password: 'b' }, tls: undefined }],
  ['redis://me:a@h', { REDIS_AUTH: 'b' }, 'It has a password, and so has REDIS_AUTH.'],
  ['rediss+cluster://h', {}, { credentials: {}, tls: {} }],
  ['redis+cluster://h', { REDIS_TLS: 'true' }, { credentials: {}, tls: {} }],
  ['redis://h', { REDIS_TLS: 'yes' }, 'REDIS_TLS is "yes", which is neither true nor false.'],
  ['redis://h', { REDIS_TLS_SERVERNAME: 'x' }, expect.stringContaining('REDIS_TLS_SERVERNAME is set, and the connection is not by TLS')],
  ['rediss://h', { REDIS_TLS_SERVERNAME: 'x' }, { credentials: {}, tls: { servername: 'x' } }],
  ['rediss://h', { REDIS_TLS_CLIENT_CERT: 'x' }, 'REDIS_TLS_CLIENT_CERT and REDIS_TLS_CLIENT_KEY belong together.'],
  ['rediss://h', { REDIS_TLS_CACERT: '/dev/zero' }, 'It is a device or a socket, and not a regular file.'],
  ['rediss://h', { REDIS_TLS_CACERT: '/nowhere' }, 'There is no such file.'],
])('%s with %j has its credentials and TLS, or is refused in words', (url, environment, found) => {
  expect(place(url, environment)).toEqual(found);
});
