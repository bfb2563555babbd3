// Random pairs of configurations and logs against a model of a few lines: what the change newly refuses is what `weir diff` says, and
// what the new configuration refuses is what `weir replay` says.
import fc from 'fast-check';
import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { toReplay } from '../../../src/harness/simulate/replay.js';
import { diffLimits } from '../../../src/tools/gateway/limit-diff.js';
import { LimitReplay } from '../../../src/tools/gateway/limit-replay.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';
import { forAllAsync } from '../../draws.js';
import { temporaryFiles } from '../../left-behind.js';

const { file } = temporaryFiles();

interface Asked {
  readonly client: string;
  readonly method: string;
  readonly path: string;
  readonly agent: string;
}

/** A limit so slow that a log of seconds sees its burst alone: `most` of each key are admitted. */
interface Spec {
  readonly format: 'nginx' | 'traefik' | 'haproxy' | 'kong' | 'cloudflare' | 'none';
  readonly most: number;
  readonly method: string | undefined;
  readonly prefix: string;
  readonly isNegated: boolean;
}

const METHODS = ['GET', 'POST', 'PUT'];
const PATHS = ['/', '/a', '/a/x', '/b'];

function written({ format, most, method, prefix, isNegated }: Spec): readonly [name: string, text: string] {
  const not = isNegated ? '!' : '';
  switch (format) {
    case 'none':
      return ['none.conf', 'server { location / { return 200; } }'];
    case 'nginx': {
      const [hit, other] = isNegated ? ['""', '$binary_remote_addr'] : ['$binary_remote_addr', '""'];
      const map = `map $request_method $key { default ${method === undefined ? hit : other}; ${method ?? 'NONE'} ${hit}; }`;
      return [
        'nginx.conf',
        `${map}\nlimit_req_zone $key zone=z:1m rate=1r/m;\nserver { location ${prefix} { limit_req zone=z ${most > 1 ? `burst=${most - 1} nodelay` : ''}; } }`,
      ];
    }
    case 'traefik': {
      const rule = `PathPrefix(\`${prefix}\`)${method === undefined ? (isNegated ? ' && !PathPrefix(`/`)' : '') : ` && ${not}Method(\`${method}\`)`}`;
      return [
        'traefik.yml',
        `http:\n  middlewares: { m: { rateLimit: { average: 1, period: 1h, burst: ${most} } } }\n  routers:\n    r: { rule: ${JSON.stringify(rule)}, middlewares: [m] }`,
      ];
    }
    case 'haproxy': {
      const asked = method === undefined ? (isNegated ? 'FALSE' : 'TRUE') : `${not}{ method ${method} }`;
      return [
        'haproxy.cfg',
        `frontend f\n  stick-table type ip size 1k expire 9m store http_req_rate(5m)\n  http-request track-sc0 src if { path_beg ${prefix} } ${asked}\n  http-request deny if { sc_http_req_rate(0) gt ${most} } { path_beg ${prefix} } ${asked}`,
      ];
    }
    case 'kong': {
      const plugin = `plugins: [{ name: rate-limiting, config: { hour: ${most}, limit_by: ip } }]`;
      const own = isNegated
        ? METHODS.filter((one) => method !== undefined && one !== method)
        : method === undefined
          ? METHODS
          : [method];
      return [
        'kong.yml',
        own.length === 0
          ? 'services: []'
          : `services:\n- name: s\n  routes:\n  - { name: a, paths: [${prefix}], methods: [${own.join(', ')}], ${plugin} }`,
      ];
    }
    case 'cloudflare': {
      const asked =
        method === undefined
          ? isNegated
            ? 'http.request.method eq "NONE"'
            : 'true'
          : `${isNegated ? 'not ' : ''}http.request.method eq "${method}"`;
      const expression = JSON.stringify(`starts_with(http.request.uri.path, "${prefix}") and (${asked})`);
      return [
        'cloudflare.tf',
        `resource "cloudflare_ruleset" "r" {\n rules {\n  action = "block"\n  expression = ${expression}\n  ratelimit {\n   characteristics = ["ip.src"]\n   period = 3600\n   requests_per_period = ${most}\n  }\n }\n}`,
      ];
    }
  }
}

/** Which requests are refused: those of a key beyond the first ones. */
function refused({ format, most, method, prefix, isNegated }: Spec, log: readonly Asked[]): boolean[] {
  const seen = new Map<string, number>();
  return log.map((one) => {
    const isHit = (method === undefined || one.method === method) !== isNegated;
    if (format === 'none' || !isHit || !one.path.startsWith(prefix)) return false;
    seen.set(one.client, (seen.get(one.client) ?? 0) + 1);
    return seen.get(one.client)! > most;
  });
}

const spec: fc.Arbitrary<Spec> = fc.record({
  format: fc.constantFrom('nginx', 'traefik', 'haproxy', 'kong', 'cloudflare', 'none'),
  most: fc.integer({ min: 1, max: 6 }),
  method: fc.option(fc.constantFrom(...METHODS), { nil: undefined }),
  prefix: fc.constantFrom('/', '/a', '/b'),
  isNegated: fc.boolean(),
});
const log: fc.Arbitrary<Asked[]> = fc.array(
  fc.record({
    client: fc.constantFrom('192.0.2.1', '192.0.2.2'),
    method: fc.constantFrom(...METHODS),
    path: fc.constantFrom(...PATHS),
    agent: fc.constantFrom('curl', 'bot'),
  }),
  { minLength: 1, maxLength: 40 },
);

it('what a change newly refuses and admits is what the model says', async () => {
  let files = 0;
  await forAllAsync([spec, spec, log], { numRuns: 40, seed: 56 }, async (old, fresh, requests) => {
    const lines = requests.map(
      ({ client, method, path, agent }) =>
        `${client} - - [01/Jan/2026:00:00:01 +0000] "${method} ${path} HTTP/1.1" 200 10 "-" "${agent}"`,
    );
    files += 1;
    const [before, after] = [refused(old, requests), refused(fresh, requests)];
    const sides = [old, fresh].map((one) => {
      const [name, text] = written(one);
      return limitersIn(text, name);
    });
    const path = file(`${files}.log`, `${lines.join('\n')}\n`);
    const found = await diffLimits([path], { old: sides[0]!, new: sides[1]! }, {}, {});
    expect(sides.flatMap(({ notUnderstood }) => notUnderstood)).toEqual([]);
    expect(found).toMatchObject({
      unjudged: [],
      newly_refused: requests.filter((_, i) => after[i] === true && before[i] !== true).length,
      newly_admitted: requests.filter((_, i) => before[i] === true && after[i] !== true).length,
    });
    const replayed = new LimitReplay([path], sides[1]!, { log: {} });
    const whole = toReplay(replayed, { name: path, cycleMs: 500 });
    const { outcome } = await lastValueFrom(replayed.rows(500).pipe(whole));
    expect(Object.fromEntries(outcome.by_contract.map(({ id, limited }) => [id, limited]))).toEqual(
      Object.fromEntries(
        [...new Set(requests.map(({ client }) => client))].map((client) => [
          client,
          requests.filter((one, i) => one.client === client && after[i] === true).length,
        ]),
      ),
    );
    expect(outcome.limits?.filter(({ not_judged }) => not_judged !== undefined)).toEqual([]);
  });
});
