// Files in formats that are not read: each is named, with the line that says so, and no limit is read from it.
import { describe, expect, it } from 'vitest';
import { readLimit } from '../../../src/core/limiter/products/limit-text.js';
import { definitionOf } from '../../../src/core/limiter/products/products.js';
import { limiterIn } from '../../../src/harness/scenario/limit-file.js';
import type { Source } from '../../../src/tools/gateway/found.js';
import { limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import { taken } from '../../../src/tools/play/own-files.js';
import { failureIn, failureOf } from '../../failures.js';

const inConfigMap = (text: string) => `kind: ConfigMap\ndata:\n  file: |\n    ${text.replaceAll('\n', '\n    ')}\n`;

// biome-ignore format: one case a line
describe.each<[format: string, cases: [what: string, file: string, text: string, line: number][]]>([
  ['APISIX', [
    ['a plugin of a route', 'a.yaml', 'routes:\n- uri: /a\n  plugins:\n    limit-count: { count: 1, time_window: 60 }\n#END\n', 4],
    ['a plugin in JSON', 'a.json', '{ "uri": "/d",\n  "plugins": { "limit-req": { "rate": 3, "burst": 0 } } }', 2],
    ['a plugin of a list', 'a.yaml', 'kind: PluginConfig\nspec: { plugins: [{ name: limit-conn, config: { conn: 1 } }] }', 2],
    ['an action of a plugin', 'a.yaml', 'plugins:\n  workflow:\n    rules:\n    - actions: [[limit-count, { count: 1 }]]\n', 4],
    ['an object', 'a.yaml', 'kind: ConfigMap\n---\nkind: ApisixRoute\nspec: { http: [] }\n', 3],
    ['a file of this name', 'conf/apisix.yaml', 'routes: []\n', 1],
    ['a template', 'a.yaml', 'plugins:\n  {{- if .on }}\n  limit-count: { count: {{ .n }} }\n  {{- end }}\n', 3],
  ]],
  ['Azure API Management', [
    ['a policy', 'policy.xml', '<policies>\n  <inbound>\n    <rate-limit calls="5" renewal-period="60" />', 3],
    ['by key, below a comment', 'policy.xml', '<!-- <quota calls="1" -->\n<quota-by-key calls="10" counter-key="@(a)" />', 2],
    ['a fragment elsewhere', 'policy.xml', '<inbound>\n<include-fragment fragment-id="throttling" />', 2],
    ['in a file that Terraform fills in', 'policy.xml.tpl', `<inbound>\n<rate-limit calls="\${calls}" renewal-period="1" />`, 2],
    ['with names in braces', 'policy.xml', '<a b="{{host}}" />\n<rate-limit calls="{{calls}}" />', 2],
    ['in Terraform', 'main.tf', `resource "azurerm_api_management_api_policy" "a" {\n  xml_content = <<XML\n<inbound>\n<quota calls="\${var.q}" />\n</inbound>\nXML\n}\n`, 4],
    ['in a template of Azure', 'azuredeploy.json', '{ "value":\n  "<inbound><rate-limit calls=\\"5\\" renewal-period=\\"60\\" /></inbound>" }', 1],
  ]],
  ['Caddy', [
    ['a zone of a site', 'Caddyfile', 'a.example {\n  # rate_limit {\n  rate_limit @api {\n    zone a {\n      events 5\n      window 1m\n', 3],
    ['JSON', 'caddy.json', '{"handle": [{\n"handler": "rate_limit",\n"rate_limits": {"a": {"max_events": 5}}}]}', 2],
    ['a file of this name', 'deploy/Caddyfile', 'a.example {\n  import limits\n}', 1],
    ['a file of this name by its ending', 'deploy/site.caddy', 'ratelimit {path} 5/m', 1],
  ]],
  ['Spring', [
    ['a filter of a route', 'application.yml', 'spring.cloud:\n  gateway.routes:\n  - id: a\n    filters: [{ name: RequestRateLimiter, args: {} }]\n', 4],
    ['properties', 'application.properties', '# spring.cloud.gateway\nspring.cloud.gateway.routes[0].id=orders\n', 2],
    ['another filter', 'application.yml', 'routes:\n  - id: a\n    predicates: [Path=/a]\n    filters: [RateLimitByIp=5]\n', 3],
    ['the default of its limiter', 'application.yml', 'spring:\n  gateway:\n    redis-rate-limiter: { config: {} }\n', 3],
    ['filters of all routes', 'application.yml', 'gateway:\n  default-filters:\n  - { name: Throttling, args: { limit: 5 } }\n', 2],
    ['Resilience4j', 'application.properties', 'a=b\nresilience4j.ratelimiter.instances.a.limit-for-period=5\n', 2],
  ]],
  ['API Commons', [
    ['a list', 'limits.yml', 'aid: shop\ncommon:\n- type: RateLimits\n  data: []\n', 3],
    ['limits alone', 'limits.yml', '- name: Search\n  limit: 30\n  timeframe: minute\n', 3],
  ]],
  ['OpenAPI', [
    ['an extension of an operation', 'openapi.yaml', 'openapi: 3.1.0\npaths:\n  /items/{id}:\n    get: { x-ratelimit: 10/minute }\n', 4],
    ['JSON', 'openapi.json', '{ "openapi": "3.1.0",\n"x-rate-limit": { "limit": 5, "window": "1s" } }', 2],
  ]],
  ['Nomad', [
    ['tags of a service', 'app.nomad.hcl', 'job "a" {\n  tags = [\n    "traefik.enable=true",\n    "traefik.http.middlewares.m.rateLimit.average=100",\n  ]\n}', 4],
  ]],
  ['TOML', [
    ['middlewares of Traefik', 'dynamic.toml', '# [http.middlewares]\n[http.routers."a"]\nmiddlewares = ["m"]\n', 2],
    ['of Traefik 1', 'old.toml', 'a = 1\n[frontends.a.ratelimit]\n', 2],
    ['dotted names', 'dynamic.toml', 'http.middlewares.m.rateLimit.average = 100\n', 1],
    ['with templates', 'dynamic.toml', '[[http.services.app.loadBalancer.servers]]\nurl = "http://{{ .Server }}:80"\n', 1],
    ['a file of this name', 'traefik.toml', '[api]\n', 1],
  ]],
])('%s', (format, cases) => {
  const named = (files: readonly Source[]) => {
    const found = limitersInFiles(files);
    expect(found.limiters).toEqual([]);
    const words = /^(.*) files are not read: (?:write the file of Traefik in YAML, or )?give the limit with --limit, or .* as in '(.*)'$/;
    return found.notUnderstood.flatMap(({ file, line, what }) => {
      const [, name, limit] = words.exec(what) ?? [];
      if (name !== undefined) expect(definitionOf(readLimit(limit!), 777).primitive).toBeTypeOf('string');
      return name === undefined ? [] : [[name, file, line]];
    });
  };

  it.each(cases)('the file is named with the line that says its format: %s', (_, name, text, line) => {
    expect(named([{ name, text }])).toEqual([[format, name, line]]);
  });

  it('the file is named within a ConfigMap, and beside a file without limits', () => {
    for (const [, , text, line] of cases.filter(([what]) => !/ of this name|template/.test(what))) {
      const files = [{ name: 'map.yaml', text: inConfigMap(text) }, { name: 'nginx.conf', text: 'server { }' }];
      expect(named(files)).toEqual([[format, 'map.yaml', line + 3]]);
    }
  });

  it('the file is refused by the playground', async () => {
    for (const [, name, text] of cases)
      expect(await failureIn(taken(new File([text], name)))).toMatchObject({ what: `${format} files are not read.` });
  });

  it('the file is refused as the limiter of a scenario', () => {
    for (const [, name, text] of cases)
      expect(failureOf(() => definitionOf(limiterIn(`./${name}`, () => text), 777))).toMatchObject({
        code: 'invalid_definition',
        what: `${format} files are not read.`,
        fix: expect.stringMatching(/^(?:Write .* or g|G)ive the limit with --limit, or as limiter: of a scenario, as in '.*'\.$/),
      });
  });
});
