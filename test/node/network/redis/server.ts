// Owns real servers of Redis for tests: started on free ports, killed, paused, restarted, gone at the end.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { afterTest } from '../../../left-behind.js';
import { freePort } from '../../../loopback.js';

/** Whether this machine has Redis (Debian: redis-server). Tests that need it are skipped where it is absent. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Paths of an authority, and of a certificate of it with its key. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** What a server or a sentinel is given to speak TLS alone, on its port. It asks clients for a certificate, too. */
export function tlsArgs(port: number, { ca, cert, key }: Certificates): string[] {
  const args = ['--port', '0', '--tls-port', `${port}`, '--tls-ca-cert-file', ca, '--tls-cert-file', cert];
  return [...args, '--tls-key-file', key, '--tls-replication', 'yes', '--tls-auth-clients', 'yes'];
}

export class RedisServer {
  readonly #args: readonly string[];
  readonly #dir: string;
  #process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    args: readonly string[],
    readonly certificates?: Certificates,
  ) {
    this.#dir = mkdtempSync(join(tmpdir(), 'weir-redis-'));
    this.#args = args;
  }

  /** On another port where another process has taken the one that was free. */
  static start(...args: string[]): Promise<RedisServer> {
    return RedisServer.startWith(undefined, ...args);
  }

  /** With TLS and nothing else, if it is given certificates. */
  static async startWith(certificates: Certificates | undefined, ...args: string[]): Promise<RedisServer> {
    for (let tries = 1; ; tries += 1) {
      const server = new RedisServer(await freePort(), args, certificates);
      afterTest(() => server.stop());
      try {
        await server.restart();
        return server;
      } catch (error) {
        await server.stop();
        if (tries === 5 || !/in use/i.test((error as Error).message)) throw error;
      }
    }
  }

  get url(): string {
    return `${this.certificates === undefined ? 'redis' : 'rediss'}://127.0.0.1:${this.port}`;
  }

  /** Starts again on the same port with the same files. @throws Error with its last words if it ends */
  async restart(): Promise<void> {
    const fixed = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#dir, '--save', ''];
    const tls = this.certificates === undefined ? [] : tlsArgs(this.port, this.certificates);
    this.#process = spawn('redis-server', [...fixed, ...tls, ...this.#args], { stdio: ['ignore', 'pipe', 'inherit'] });
    await said(this.#process, 'Ready to accept connections');
  }

  async restartIfGone(): Promise<void> {
    const gone = this.#process === undefined || this.#process.exitCode !== null || this.#process.signalCode !== null;
    if (gone) await this.restart();
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  async kill(): Promise<void> {
    const process = this.#process;
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = new Promise((resolve) => process.once('exit', resolve));
    process.kill('SIGCONT');
    process.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Sends a command as somebody else would. */
  async ask<T = unknown>(...args: string[]): Promise<T> {
    const { ca, cert, key } = this.certificates ?? {};
    const read = (path: string) => readFileSync(path, 'utf8');
    const tls =
      ca === undefined
        ? {}
        : {
            socket: { tls: true as const, servername: 'redis.test', ca: read(ca), cert: read(cert!), key: read(key!) },
          };
    const client = createClient({ url: this.url, ...tls });
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.sendCommand<T>(args);
    } finally {
      client.destroy();
    }
  }
}

/** Three masters with a third of the slots each. */
export class RedisCluster {
  private constructor(readonly servers: readonly RedisServer[]) {}

  static async start(certificates?: Certificates): Promise<RedisCluster> {
    const servers: RedisServer[] = [];
    const args = ['--cluster-enabled', 'yes', ...(certificates === undefined ? [] : ['--tls-cluster', 'yes'])];
    for (let index = 0; index < 3; index += 1) servers.push(await RedisServer.startWith(certificates, ...args));
    const slots = [
      [0, 5460],
      [5461, 10_922],
      [10_923, 16_383],
    ];
    for (const [index, server] of servers.entries()) {
      await server.ask('CLUSTER', 'ADDSLOTSRANGE', ...slots[index]!.map(String));
      await servers[0]!.ask('CLUSTER', 'MEET', '127.0.0.1', String(server.port));
    }
    for (const server of servers) {
      await until(async () => (await server.ask<string>('CLUSTER', 'INFO')).includes('cluster_state:ok'));
    }
    return new RedisCluster(servers);
  }

  get url(): string {
    return `${this.servers[0]!.certificates === undefined ? 'redis' : 'rediss'}+cluster://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

/** A master with two replicas, and a sentinel that makes one of them the master when it is gone. */
export class RedisReplicas {
  private constructor(
    readonly master: RedisServer,
    readonly replicas: readonly RedisServer[],
    readonly url: string,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<RedisReplicas> {
    const user = '--user replica on >secret ~* &* +@all --masteruser replica --masterauth secret'.split(' ');
    const master = await RedisServer.start(...user);
    const of = [...user, '--replicaof', '127.0.0.1', String(master.port)];
    const replicas = [await RedisServer.start(...of), await RedisServer.start(...of)];
    for (const replica of replicas)
      await until(async () => (await replica.ask<string>('INFO')).includes('link_status:up'));
    const port = await freePort();
    const dir = mkdtempSync(join(tmpdir(), 'weir-sentinel-'));
    // Where the machine is so busy that no replica looks fit for it, a failover is tried again after twice that time: by default six minutes.
    const times = 'sentinel down-after-milliseconds main 2000\nsentinel failover-timeout main 5000';
    const monitor = `sentinel monitor main 127.0.0.1 ${master.port} 1\n${times}`;
    writeFileSync(join(dir, 'sentinel.conf'), `port ${port}\nbind 127.0.0.1\ndir ${dir}\n${monitor}\n`);
    const sentinel = spawn('redis-server', [join(dir, 'sentinel.conf'), '--sentinel'], { stdio: 'ignore' });
    const client = createClient({ url: `redis://127.0.0.1:${port}` });
    client.on('error', () => {});
    await client.connect();
    await until(async () => (await client.sendCommand<unknown[]>(['SENTINEL', 'REPLICAS', 'main'])).length === 2);
    client.destroy();
    return new RedisReplicas(master, replicas, `redis+sentinel://127.0.0.1:${port}/main`, async () => {
      sentinel.kill('SIGKILL');
      await Promise.all([master, ...replicas].map((server) => server.stop()));
      rmSync(dir, { recursive: true, force: true });
    });
  }

  /** From now on the replicas get nothing from the master, which does not let them in any more. */
  async cutOff(): Promise<void> {
    await this.master.ask('ACL', 'SETUSER', 'replica', 'off');
    await this.master.ask('CLIENT', 'KILL', 'TYPE', 'replica');
  }
}

/** Resolves once a process has said this. @throws Error with its last words if it ends before */
export function said(process: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let words = '';
    const hear = (chunk: Buffer) => {
      words = (words + chunk).slice(-10_000);
      if (words.includes(text)) resolve();
    };
    process.stdout?.on('data', hear);
    process.stderr?.on('data', hear);
    process.on('error', reject);
    const command = process.spawnargs.join(' ');
    process.on('close', (code) => reject(new Error(`${command} ended with exit code ${code}: ${words}`)));
  });
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}
