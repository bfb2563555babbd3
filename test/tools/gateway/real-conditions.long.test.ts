// Conditions and paths as real servers take them: a table of requests, sent to nginx and HAProxy, and evaluated by the reader of their files.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LimitSide } from '../../../src/tools/gateway/limit-sides.js';
import { limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import { haproxyFile, isInstalled, nginxFile, startedWith } from '../../harness/live/real-servers.js';
import type { Loopback } from '../../loopback.js';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly agent: string;
}

const asked = [
  ...['/', '/a', '/a/', '/a/b', '/A', '/ab', '/b', '/old/x', '/old/', '/oldest', '/new/x', '/u/bob', '/u/eve/x'],
  ...['//a', '//a//b', '/%61', '/a%2Fb', '/a/./b', '/a/c/../b', '/x/../a', '/a?x=1', '/b?x=1&y=2', '/a?y=1', '/b?x='],
].flatMap((url): Asked[] => [
  { method: 'GET', url, agent: 'curl/8' },
  { method: 'POST', url, agent: 'Bot' },
]);

/** The header that says whether the limit was met; undefined without it. */
const answerOf = (url: string, { method, url: path, agent }: Asked, host: string) =>
  new Promise<string | undefined>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path, method, headers: { host, 'user-agent': agent } }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.headers['x-limit'] as string | undefined));
    });
    sent.on('error', reject);
    sent.end();
  });

function evaluated(name: string, text: string, { method, url, agent }: Asked, host: string): boolean | string {
  const side = new LimitSide(limitersInFiles([{ name, text }]), false);
  const [path, query = ''] = url.split('?');
  const { limits, counted } = side.placeOf({ method, path, query, url, agent, client: '127.0.0.1', host });
  const [left] = side.leftOut;
  return left === undefined ? limits.length + counted.length > 0 : left.why;
}

async function both(server: Loopback, name: string, text: string, host: string) {
  const found: Record<string, boolean | string> = {};
  const real: Record<string, boolean> = {};
  for (const one of asked) {
    const title = `${one.method} ${one.url}`;
    real[title] = (await answerOf(server.url, one, host)) !== undefined;
    found[title] = evaluated(name, text, one, host);
  }
  expect(new Set(Object.values(real))).toEqual(new Set([true, false]));
  return { found, real };
}

/** What stands in `http`, and in the server. `N` is the number of the row. */
const NGINX: Readonly<Record<string, readonly [http: string, server: string]>> = {
  'a prefix': ['', 'location /a { limit_req zone=N; }'],
  'an exact path': ['', 'location = /a/b { limit_req zone=N; } location /a { }'],
  'the longest prefix': ['', 'location / { limit_req zone=N; } location /a { } location ^~ /u/ { }'],
  'an expression': ['', 'location ~ ^/a/?b { limit_req zone=N; } location ~* ^/A$ { limit_req zone=N; }'],
  'a map of methods': ['map $request_method $kN { default ""; POST $binary_remote_addr; }', 'limit_req zone=N;'],
  'a map of agents': ['map $http_user_agent $kN { ~*bot $binary_remote_addr; }', 'limit_req zone=N;'],
  'a map of paths': ['map $uri $kN { /a 1; ~^/u/ 1; /A/B 1; }', 'limit_req zone=N;'],
  'a map of whole paths': ['map $request_uri $kN { /a 1; //a 1; ~x=1 1; }', 'limit_req zone=N;'],
  'an argument of any case': ['map $arg_X $kN { default $binary_remote_addr; "" ""; }', 'limit_req zone=N;'],
  'an argument': ['map $arg_x $kN { default $binary_remote_addr; "" ""; }', 'limit_req zone=N;'],
  'a group of an expression': ['map $uri $kN { ~^/u/(?<who>b\\w+) $who; ~^/a/?(.*)$ $1; }', 'limit_req zone=N;'],
  'an answer in an if': ['', 'if ($request_method = POST) { return 204; } limit_req zone=N;'],
  'a redirect in an if': ['', 'if ($uri ~ ^/old) { rewrite ^ https://b.test/ permanent; } limit_req zone=N;'],
  'a redirect to another host': ['', 'rewrite ^/old/ http://b.test/x; limit_req zone=N;'],
  'a rewrite of the server': ['', 'rewrite ^/old/(.*) /new/$1; location /new { limit_req zone=N; }'],
  'a rewrite of a location': [
    '',
    'location /old { rewrite ^/old/(.*)$ /new/$1 last; } location /new { limit_req zone=N; } location / { }',
  ],
  'a rewrite that stays': ['', 'location /old { rewrite ^ /new break; limit_req zone=N; } location /new { }'],
  'a rewrite in an if': [
    '',
    'set $a b; if ($request_method = POST) { set $a a; rewrite ^/old/ /$a last; } location /a { limit_req zone=N; } location / { }',
  ],
  'a group in an if': ['', 'set $kN ""; if ($uri ~ ^/u/(b.*)) { set $kN $1; } limit_req zone=N;'],
  'a variable of an if': ['', 'set $kN 1; if ($http_user_agent ~* bot) { set $kN ""; } limit_req zone=N;'],
};
const rows = Object.entries(NGINX).map(([title, texts], n) => {
  const [http, server] = texts.map((text) => text.replaceAll('=N;', `=z${n};`).replaceAll('$kN', `$k${n}`));
  const key = `${http}${server}`.includes(`$k${n}`) ? `$k${n}` : '$binary_remote_addr';
  return { title, http: `${http}\nlimit_req_zone ${key} zone=z${n}:1m rate=1r/s;`, server, host: `row${n}.test` };
});

describe.skipIf(!isInstalled('nginx'))('nginx', () => {
  let server: Loopback;
  beforeAll(async () => {
    const servers = (port: number) =>
      rows.map(
        (row) =>
          `${row.http}\nserver { listen 127.0.0.1:${port}; server_name ${row.host}; limit_req_dry_run on; add_header X-Limit $limit_req_status always; ${row.server} }`,
      );
    server = await startedWith('nginx', (port, folder) => nginxFile(servers(port).join('\n'), '')(port, folder));
  });
  afterAll(() => server?.close());

  it.each(rows)(
    'nginx answers each request as its file is evaluated: $title',
    async ({ http, server: block, host }) => {
      const { found, real } = await both(
        server,
        'nginx.conf',
        `${http}\nserver { server_name ${host}; ${block} }`,
        host,
      );
      expect(found).toEqual(real);
    },
  );
});

const HAPROXY = {
  'a method': '{ method POST }',
  'the beginning of a path': '{ path_beg /a }',
  'a path and a method': '{ path /a /b } METH_GET',
  'any of two': '{ path_end b } || { path_sub ol }',
  'what is not': '!{ path -i /a }',
  'an expression': '{ path_reg ^/u/[a-c] }',
  'an agent': '{ hdr_sub(user-agent) -i bot }',
  'an argument': '{ url_param(x) 1 }',
  'an argument that is there, and one of another case': '{ urlp(x) -m found } || { urlp(X) 1 }',
  'a folder of a path': '{ path_dir u }',
  'the beginning in any case': '{ path -m beg -i /A }',
};

describe.skipIf(!isInstalled('haproxy'))('HAProxy', () => {
  it.each(Object.entries(HAPROXY))(
    'HAProxy answers each request as its file is evaluated: %s',
    async (_, condition) => {
      const rule = `http-request track-sc0 src if ${condition}`;
      const table = 'stick-table type ip size 1k expire 1m store http_req_rate(60s)';
      const said = 'http-request return status 200 hdr X-Limit yes if { sc0_tracked }';
      const server = await startedWith('haproxy', haproxyFile([table, rule, said].join('\n  '), ''));
      try {
        const text = `frontend f\n  ${table}\n  ${rule}\n  http-request deny if { sc_http_req_rate(0) gt 5 }\n`;
        const { found, real } = await both(server, 'haproxy.cfg', text, 'a.test');
        expect(found).toEqual(real);
      } finally {
        await server.close();
      }
    },
  );
});
