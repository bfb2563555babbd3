// Gateways of Debian with the recipes of scenarios/recipes, on free loopback ports: each file as it is, with the addresses, the contract
// and the key of a test in place of those that stand there. They wait for the gate for as long as a busy machine takes: those that are open
// while the node is away would let requests through that the test counts.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { freePort, type Loopback, loopback } from '../../loopback.js';
import { started } from './real-servers.js';

/** What a recipe leaves open. */
export interface Places {
  /** host:port of the node. */
  readonly node: string;
  readonly contractId: string;
  readonly key: string;
  /** host:port of what stands behind the gateway. */
  readonly app: string;
}

export const gateways = {
  nginx: {
    program: 'nginx',
    start: (places: Places, waits: Waits = 'patiently', change = unchanged) =>
      run('nginx', places, waits, change, ['nginx.conf'], (folder) => {
        const main = `daemon off; worker_processes 2; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000; client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b;
  fastcgi_temp_path ${folder}/c; uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  include ${folder}/nginx.conf;
}
`;
        writeFileSync(join(folder, 'main.conf'), main);
        return ['-c', join(folder, 'main.conf'), '-p', folder];
      }),
  },
  Caddy: {
    program: 'caddy',
    start: (places: Places, waits: Waits = 'patiently') =>
      run('caddy', places, waits, unchanged, ['Caddyfile'], (folder) => {
        const file = join(folder, 'Caddyfile');
        writeFileSync(file, readFileSync(file, 'utf8').replace(/^\{\n/m, '{\n\tadmin off\n'));
        return ['run', '--config', file, '--adapter', 'caddyfile'];
      }),
  },
  HAProxy: {
    program: 'haproxy',
    start: (places: Places, waits: Waits = 'patiently', change = unchanged) =>
      run('haproxy', places, waits, change, ['haproxy.cfg', 'haproxy-weir.lua'], (folder) => [
        '-f',
        join(folder, 'haproxy.cfg'),
        '-db',
      ]),
  },
  Apache: {
    program: 'apache2',
    start: (places: Places, waits: Waits = 'patiently') =>
      run('apache2', places, waits, unchanged, ['apache.conf', 'apache-weir.lua'], (folder) => {
        const modules = ['mpm_event', 'authz_core', 'lua', 'proxy', 'proxy_http'];
        const main = `ServerName localhost
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
${readFileSync(join(folder, 'apache.conf'), 'utf8').replaceAll('/etc/apache2/', `${folder}/`)}
`;
        writeFileSync(join(folder, 'main.conf'), main);
        return ['-D', 'FOREGROUND', '-f', join(folder, 'main.conf')];
      }),
  },
} as const;

const unchanged = (text: string) => text;

async function run(
  program: string,
  places: Places,
  waits: Waits,
  change: (text: string) => string,
  files: readonly string[],
  args: (folder: string) => string[],
): Promise<Loopback> {
  const port = await freePort();
  return started(
    program,
    (folder) => {
      for (const file of files) {
        const text = (file === files[0] ? change : unchanged)(recipe(file, places, port));
        writeFileSync(join(folder, file), waits === 'patiently' ? patient(text) : text);
      }
      return args(folder);
    },
    port,
  );
}

/** How long a gateway waits for the node: as its recipe says, or so long that a busy machine is no matter. */
type Waits = 'patiently' | 'as written';

/** Waits a minute where a recipe waits a second or two. */
function patient(text: string): string {
  return text
    .replaceAll(/(proxy_\w+_timeout) \ds/g, '$1 60s')
    .replaceAll(/(dial|response_header)_timeout \ds/g, '$1_timeout 60s')
    .replaceAll('timeout check 2s', 'timeout check 60s')
    .replace('timeout = 1000,', 'timeout = 60000,')
    .replace('http.TIMEOUT = 1\n', 'http.TIMEOUT = 60\n');
}

/** A recipe with the places of a test. */
export function recipe(file: string, { node, contractId, key, app }: Places, port = 8000): string {
  return readFileSync(new URL(`../../../scenarios/recipes/${file}`, import.meta.url), 'utf8')
    .replaceAll('127.0.0.1:7770', node)
    .replaceAll('127.0.0.1:8080', app)
    .replaceAll('127.0.0.1:8000', `127.0.0.1:${port}`)
    .replaceAll('CONTRACT_ID', contractId)
    .replaceAll('WEIR_KEY', key);
}

/** What stands behind: says `app`, and remembers what it was asked. */
export interface App extends Loopback {
  readonly asked: {
    readonly method: string;
    readonly url: string;
    readonly key: string | undefined;
    readonly body: string;
  }[];
}

export async function startApp(): Promise<App> {
  const asked: App['asked'][number][] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      asked.push({ method, url, key: headers['x-api-key'] as string | undefined, body });
      response.end('app');
    });
  });
  return { asked, ...(await loopback(server)) };
}
