// Real limiters behind real servers, on free loopback ports: nginx, HAProxy and Redis of Debian, and middleware of Node.js.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastifyRateLimit from '@fastify/rate-limit';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import fastify from 'fastify';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { freePort, type Loopback, loopback } from '../../loopback.js';

export function isInstalled(program: string): boolean {
  return (
    spawnSync('which', [program], { env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` } }).status === 0
  );
}

/** Starts a program in a folder of its own, and waits until it listens. */
export async function started(program: string, args: (folder: string) => string[], port: number): Promise<Loopback> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-real-'));
  const env = { ...process.env, HOME: folder, PATH: `${process.env['PATH']}:/usr/sbin` };
  const child = spawn(program, args(folder), { env, cwd: folder, stdio: 'ignore' });
  await listening(child, program, port);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        const end = () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        };
        if (child.exitCode !== null) return end();
        child.once('exit', end);
        child.kill();
      }),
  };
}

async function listening(child: ChildProcess, program: string, port: number): Promise<void> {
  for (let tried = 0; tried < 200; tried += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${program} does not listen`);
}

/** A file that runs in a folder, on a port. */
export type FileAt = (port: number, folder: string) => string;

/** What passes is answered by the location `@done`. */
export const nginxFile =
  (http: string, server: string): FileAt =>
  (port, folder) =>
    `daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log /dev/null;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c;
  uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  keepalive_requests 100000;
  ${http}
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    ${server}
    location @done { return 200 done; }
  }
}
`;

export const haproxyFile =
  (rules: string, tables: string) =>
  (port: number): string =>
    `global
  nbthread 1
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 1s
frontend front
  bind 127.0.0.1:${port}
  ${rules}
  http-request return status 200 content-type text/plain string done
${tables}
`;

/** Starts nginx or HAProxy with a file. */
export async function startedWith(program: 'nginx' | 'haproxy', file: FileAt): Promise<Loopback> {
  const port = await freePort();
  const inFolder = (folder: string) => {
    const path = join(folder, `${program}.conf`);
    writeFileSync(path, file(port, folder));
    return program === 'nginx' ? ['-c', path, '-p', folder] : ['-f', path, '-db'];
  };
  return started(program, inFolder, port);
}

/** @param locations paths and what stands in each, with `key` as the one key of all requests @param server further lines of it */
export function startNginx(
  zones: readonly string[],
  locations: Readonly<Record<string, string>>,
  server = '',
): Promise<Loopback> {
  const blocks = Object.entries(locations).map(
    ([path, body]) => `location = ${path} { ${body} try_files /none @done; }`,
  );
  return startedWith('nginx', nginxFile(zones.join('\n  '), [server, ...blocks].join('\n    ')));
}

/** @param rules of the frontend; requests are tracked in the table of the backend `table` by their path */
export function startHaproxy(tables: readonly string[], rules: readonly string[]): Promise<Loopback> {
  return startedWith('haproxy', haproxyFile(rules.join('\n  '), tables.join('\n')));
}

export async function startRedis(): Promise<{ readonly port: number } & Loopback> {
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  return { ...(await started('redis-server', () => args, port)), port };
}

const served = (listener: RequestListener): Promise<Loopback> => loopback(createServer(listener));

export function startExpress(windowMs: number, limit: number): Promise<Loopback> {
  const app = express();
  app.use(rateLimit({ windowMs, limit, standardHeaders: 'draft-8', legacyHeaders: true, validate: false }));
  app.get('/', (_request, response) => void response.send('done'));
  return served(app);
}

export async function startFastify(timeWindow: number, max: number): Promise<Loopback> {
  const app = fastify({ forceCloseConnections: true });
  await app.register(fastifyRateLimit, { max, timeWindow });
  app.get('/', async () => 'done');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, close: async () => void (await app.close()) };
}

export function startFlexible(points: number, duration: number, storeClient?: object): Promise<Loopback> {
  const limiter =
    storeClient === undefined
      ? new RateLimiterMemory({ points, duration })
      : new RateLimiterRedis({ storeClient, points, duration });
  return served((_request, response) => {
    limiter.consume('key').then(
      () => response.end('done'),
      ({ msBeforeNext }: { msBeforeNext: number }) => {
        response.writeHead(429, { 'retry-after': String(Math.ceil(msBeforeNext / 1000)) }).end();
      },
    );
  });
}

export async function startFlexibleOnRedis(): Promise<Loopback> {
  const redis = await startRedis();
  const client = new (await import('ioredis')).Redis(redis.port, '127.0.0.1');
  const { url, close } = await startFlexible(10, 1, client);
  const closeAll = async () => {
    client.disconnect();
    await Promise.all([close(), redis.close()]);
  };
  return { url, close: closeAll };
}
