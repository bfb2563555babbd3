// Real nginx in front of a service that has a limit of its own: 25,000 requests over kept connections (100,000 with WEIR_ALL=1), and of
// every answer of 429 it is known who gave it. None is assigned wrong.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainLog, type JudgedAnswer } from '../../../src/tools/gateway/limit-explain.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';
import { isAll } from '../../draws.js';
import { isInstalled, startedWith } from '../../harness/live/real-servers.js';
import { type Loopback, loopback } from '../../loopback.js';

const REQUESTS = isAll ? 100_000 : 25_000;
const CLIENTS = 500;
const CONNECTIONS = 50;
/** Every so many requests of a client that reach the service are refused there. */
const EVERY = 7;
/** Whole seconds leave much to search: of these clients alone, a fifth of all. */
const SEARCHED = isAll ? /./ : /\b198\.51\.100\.\d\d?\b/;

/** Each client has an address of its own, by the header. */
const file = (port: number, folder: string, app: string) => `daemon off;
worker_processes 2;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  log_format exact '$remote_addr $msec $request_time $upstream_response_time "$request" $status $http_x_id';
  log_format said '$remote_addr $msec $request_time "$request" $status $limit_req_status $http_x_id';
  log_format coarse '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "$http_x_id"';
  access_log ${folder}/exact.log exact;
  access_log ${folder}/said.log said;
  access_log ${folder}/coarse.log coarse;
  client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c;
  uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  set_real_ip_from 127.0.0.1;
  real_ip_header X-Real-IP;
  keepalive_requests 1000000;
  limit_req_zone $binary_remote_addr zone=api:10m rate=5r/s;
  limit_req_zone $binary_remote_addr zone=slow:10m rate=60r/m;
  limit_req_status 429;
  upstream app { server ${app}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / { limit_req zone=api burst=8 nodelay; proxy_pass http://app; }
    location /login { limit_req zone=api burst=3 nodelay; limit_req zone=slow burst=4 nodelay; proxy_pass http://app; }
    location /open/ { proxy_pass http://app; }
  }
}
`;

describe.skipIf(!isInstalled('nginx'))('nginx in front of a service with a limit of its own', () => {
  let app: Loopback;
  let nginx: Loopback;
  let folder = '';
  let text = '';
  const behind = new Set<string>();
  beforeAll(async () => {
    const seen = new Map<string, number>();
    app = await loopback(
      createServer((request, response) => {
        const client = String(request.headers['x-client']);
        const n = (seen.get(client) ?? 0) + 1;
        seen.set(client, n);
        const isLimited = n % EVERY === 0;
        if (isLimited) behind.add(String(request.headers['x-id']));
        response.statusCode = isLimited ? 429 : 200;
        response.end('app');
      }),
    );
    nginx = await startedWith('nginx', (port, given) => {
      folder = given;
      text = file(port, folder, new URL(app.url).host);
      return text;
    });
    const pool = new Pool(nginx.url, { connections: CONNECTIONS });
    let sent = 0;
    const send = async (client: number, path: string) => {
      const id = `r${sent++}`;
      const address = `198.51.${100 + (client >> 8)}.${client & 255}`;
      const headers = { 'x-real-ip': address, 'x-client': address, 'x-id': id };
      const { body } = await pool.request({ path, method: 'GET', headers });
      await body.dump();
    };
    await send(0, '/');
    // The log begins with a silence that is longer than the limits remember.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    const paths = ['/', '/', '/orders?n=1', '/login', '/open/a'];
    const work = async () => {
      for (let n = Math.floor(CLIENTS * Math.random()); sent < REQUESTS; n += 1)
        await send((n * 17) % CLIENTS, paths[Math.floor(Math.random() * paths.length)]!);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    await pool.close();
    for (const name of ['coarse.log', 'error.log']) {
      const all = readFileSync(join(folder, name), 'utf8').trim().split('\n');
      writeFileSync(join(folder, name), `${all.filter((line) => SEARCHED.test(line)).join('\n')}\n`);
    }
  });
  afterAll(async () => {
    await nginx?.close();
    await app?.close();
  });

  /** Figures of the judgements, against who really answered. */
  async function judged(name: string, format: string | undefined, beside: readonly string[] = []) {
    const path = join(folder, name);
    const ids = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => /(r\d+)"?$/.exec(line)![1]!);
    const gateway = limitersIn(text, 'nginx.conf');
    const startMs = performance.now();
    const options = { format };
    const found = await explainLog([path, ...beside.map((one) => join(folder, one))], { gateway }, options, {});
    const all = { requests: ids.length, ours: 0, behind: 0, judged: 0, wrong: 0, letThrough: 0 };
    found.answers.forEach(({ status, whose, isLetThrough }: JudgedAnswer, k) => {
      if (isLetThrough) all.letThrough += 1;
      if (status !== 429) return;
      const isBehind = behind.has(ids[k]!);
      all[isBehind ? 'behind' : 'ours'] += 1;
      if (whose !== 'not judged') all.judged += 1;
      if (whose === (isBehind ? 'ours' : 'not ours')) all.wrong += 1;
    });
    const words = `${name}: ${JSON.stringify(all)}, ${JSON.stringify(found.unjudged)}, ${Math.round(performance.now() - startMs)} ms\n`;
    process.stdout.write(words);
    return { ...all, share: all.judged / (all.ours + all.behind) };
  }

  it('no refusal is assigned wrong by times in ms, and more than a fifth are assigned', async () => {
    const format = '$remote_addr $msec $request_time $upstream_response_time "$request" $status $http_x_id';
    const found = await judged('exact.log', format);
    expect(found).toMatchObject({ requests: REQUESTS, wrong: 0, letThrough: 0 });
    // On a busy machine a request takes long, and is judged less often.
    expect(found.share).toBeGreaterThan(0.2);
  });

  it('all refusals are assigned by the status of limit_req in the log', async () => {
    const format = '$remote_addr $msec $request_time "$request" $status $limit_req_status $http_x_id';
    expect(await judged('said.log', format)).toMatchObject({ wrong: 0, letThrough: 0, share: 1 });
  });

  it('no refusal is assigned wrong by whole seconds at the end of requests', async () => {
    expect(await judged('coarse.log', undefined)).toMatchObject({ wrong: 0, letThrough: 0 });
  });

  it('no refusal is assigned wrong with the error log beside whole seconds', async () => {
    expect(await judged('coarse.log', undefined, ['error.log'])).toMatchObject({ wrong: 0, letThrough: 0 });
  });
});
