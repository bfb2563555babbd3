import { expect, it } from 'vitest';
import type { Like } from '../../../src/tools/gateway/found.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';

const ZONES = `limit_req_zone $binary_remote_addr zone=slow:10m rate=200r/m;
limit_req_zone $binary_remote_addr zone=fast:10m rate=12r/s;
limit_conn_zone $binary_remote_addr zone=conns:10m;
`;

const conf = `${ZONES}
http {
  limit_req_status 429;
  server {
    server_name a.example;
    limit_req zone=slow;
    limit_conn conns 20;
    location /api { limit_req zone=fast burst=9; location ~ \\.png$ { expires 1h; } }
    location = /login { limit_req zone=slow burst=1; limit_req_status 503; limit_conn conns 1; }
    location /gone { return 410; }
    location ^~ /static/ { root /srv; location /static/deep { limit_conn conns 3; } }
    location ~* \\.(css|png)$ { limit_req zone=fast; }
    if ($request_method = OPTIONS) { return 204; }
  }
  server { server_name b.example; return 301 https://a.example; limit_req zone=fast; }
}`;
const found = limitersIn(conf, 'nginx.conf');
it.each([
  ['/', 'slow 20'],
  ['/api/a', 'fast:9 20'],
  ['/api/a.png', 'fast:9 20'],
  ['/login', 'slow:1 1'],
  ['/login/a', 'slow 20'],
  ['/gone', ''],
  ['/static/a.css', 'slow 20'],
  ['/static/deep/a.css', 'slow 3'],
  ['/other/a.CSS', 'fast 20'],
])('a request to %s meets %s', (path, expected) => {
  const shown = found.appliesTo({ host: 'a.example', path, method: 'GET' }).map(({ name, limit }) => {
    const { burst, connections } = limit as Like;
    return connections === undefined ? `${name}${burst === undefined ? '' : `:${burst}`}` : String(connections);
  });
  expect(shown.join(' ')).toBe(expected);
});
it('a reading says which limits are never met, and which requests meet none', () => {
  expect(found.notApplied).toMatchObject([{ name: 'fast', line: 18 }]);
  expect(found.notUnderstood).toEqual([]);
  expect(found.appliesTo({ host: 'a.example', path: '/', method: 'OPTIONS' })).toEqual([]);
  expect(found.appliesTo({ host: 'b.example', path: '/' })).toEqual([]);
});
it('a limit takes the status of its place', () => {
  const requests = found.limiters.filter(({ counts }) => counts === 'requests');
  expect(requests.map(({ line, status }) => `${line}: ${status}`)).toEqual(['9: 429', '11: 429', '12: 503', '15: 429']);
});

const at = (zone: string) => `{ limit_req zone=${zone}; }`;
it.each([
  ['an expression that fits, too', `location = /x.php ${at('slow')} location ~ \\.php$ ${at('fast')}`, '/x.php'],
  ['a prefix of the same text before it', `location /x ${at('fast')} location = /x ${at('slow')}`, '/x'],
  ['a final prefix before it', `location ^~ /x ${at('fast')} location = /x ${at('slow')}`, '/x'],
  [
    'an expression outside of the one that has it',
    `location ~ x$ ${at('fast')} location /a { location = /a/x ${at('slow')} location ~ x$ ${at('fast')} }`,
    '/a/x',
  ],
])('an exact location answers before %s', (_, locations, path) => {
  const found = limitersIn(`${ZONES}http { server { server_name a.example; ${locations} } }`, 'nginx.conf');
  expect(found.appliesTo({ host: 'a.example', path, method: 'GET' }).map(({ name }) => name)).toEqual(['slow']);
});

it('a cookie cannot be taken from a log', () => {
  const text = 'limit_req_zone $cookie_session zone=a:1m rate=1r/s;\nserver { limit_req zone=a; }';
  const [limiter] = limitersIn(text, 'nginx.conf').limiters;
  expect(limiter!.key).toEqual({ text: '$cookie_session', parts: undefined, lacks: 'a cookie' });
});
