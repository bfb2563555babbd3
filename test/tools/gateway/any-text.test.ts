// Whatever a file holds, it is read without a failure, and what is said has a line of it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limitChanges } from '../../../src/tools/gateway/limit-changes.js';
import { fittingLimits } from '../../../src/tools/gateway/limit-rule.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';
import { forAll } from '../../draws.js';

const names = ['nginx.conf', 'haproxy.cfg', 'kong.yml', 'a.json', 'main.tf', 'Caddyfile', 'a.md', 'a.j2', 'noted'];
// biome-ignore format: a product in each paragraph
const pieces = [
  'limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;', 'limit_req zone=a burst=5;', 'server {', 'location ~ (', 'location /a {',
  '}', '{', ';',

  'stick-table type ip size 1m expire 1s store http_req_rate(1s)', 'http-request track-sc0 src',
  'http-request deny if { sc0_http_req_rate gt 1 }', 'frontend a', 'acl b path /c',

  'plugins:', '- name: rate-limiting', '  config: { minute: 0 }', '  config: { minute: 5 }',
  'domain: a', 'descriptors:', '- key: b', '  rate_limit: { unit: minute, requests_per_unit: 1 }', '---', '&a [*a]', '<<: *a',

  'resource "aws_wafv2_web_acl" "a" {', 'rule {', 'statement {', 'rate_based_statement {', 'limit = 5', 'limit = var.x',
  'a = [for x in y : x]', '<<EOT', 'EOT',

  'rate_limit {', 'limit-count: 5', '{{ x }}', '<% y %>', '```',
  '/*', '*/', '"', "'", '\\', '#', '${', '\u0000', '\u2028',
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8 })), { maxLength: 30 })
  .chain((words) =>
    fc
      .array(fc.constantFrom('\n', ' ', '\n  '), { minLength: words.length, maxLength: words.length })
      .map((gaps) => words.map((word, i) => word + gaps[i]).join('')),
  );

it('any text of any name is read without a failure, and what is said has a line of it', () => {
  forAll([text, fc.constantFrom(...names)], (given, name) => {
    const found = fittingLimits(limitersIn(given, name));
    const lines = given.split('\n').length;
    for (const { line } of [...found.limiters, ...found.notApplied, ...found.notUnderstood]) {
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines);
    }
    found.appliesTo({ host: 'a.example', path: '/a/b.css' });
    expect(limitChanges(found, found)).toEqual([]);
  });
});

it('depth and breadth have bounds', () => {
  const deep = `${'['.repeat(50_000)}`;
  for (const name of names) limitersIn(deep, name);
  limitersIn(`a = ${deep}`, 'main.tf');
  limitersIn('server {'.repeat(20_000), 'nginx.conf');
  limitersIn('rate_limit {\n'.repeat(20_000), 'Caddyfile');
  const anchors = ['a', ...Array.from({ length: 40 }, (_, i) => `b${i}`)];
  const twice = anchors.slice(1).map((name, i) => `${name}: &${name} [*${anchors[i]}, *${anchors[i]}]`);
  limitersIn(['a: &a [x]', ...twice].join('\n'), 'kong.yml');
});
