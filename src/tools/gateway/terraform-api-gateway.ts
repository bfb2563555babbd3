// Limits of AWS API Gateway as Terraform declares them: usage plans with their quotas, and the throttling of stages.
//
// Source: the reference of the provider aws at registry.terraform.io.
import { at, isGiven, listAt, numbersAt, type TreeEntry, textAt } from './document.js';
import { literal } from './expression.js';
import type { FoundLimiter, FoundLimits } from './found.js';
import { everyone, unknownKey } from './limit-key.js';
import type { ValueTest } from './request-condition.js';

export interface Resource {
  readonly type: string;
  readonly name: string;
  readonly body: TreeEntry;
}

export function readUsagePlan({ name, body }: Resource, found: FoundLimits): void {
  const all = { name: 'throttle_settings', key: unknownKey('API key') };
  const add = (settings: TreeEntry, where: string, paths: readonly ValueTest[]) =>
    throttle(settings, '', { ...all, where, paths }, found);
  const title = `usage plan ${textAt(body, 'name') ?? name}`;
  for (const settings of listAt(body, 'throttle_settings')) add(settings, title, []);
  for (const stage of listAt(body, 'api_stages'))
    for (const one of listAt(stage, 'throttle')) {
      sayOne(one, textAt(one, 'path') ?? '', found);
      add(one, `${title}, ${textAt(one, 'path') ?? ''}`, pathOf(textAt(one, 'path') ?? ''));
    }
  for (const quota of listAt(body, 'quota_settings')) {
    const given = numbersAt(quota, found, 'limit');
    const period = textAt(quota, 'period') ?? '';
    if (given === undefined) continue;
    if (!['DAY', 'WEEK', 'MONTH'].includes(period)) found.refuse(quota, `the period ${period} is not read`);
    else
      found.limiter(quota, {
        name: 'quota_settings',
        where: title,
        key: unknownKey('API key'),
        limit: { like: 'aws-quota', ...given, period },
      });
  }
}

const sayOne = (at: TreeEntry, name: string, found: FoundLimits) =>
  found.refuse(
    at,
    `only requests of ${name} count, and in place of broader limits; here its path alone is known, and meets those too`,
  );

function throttle(
  settings: TreeEntry,
  before: '' | 'throttling_',
  place: Pick<FoundLimiter, 'name' | 'where' | 'paths' | 'key'>,
  found: FoundLimits,
): void {
  if (!isGiven(settings)) return;
  const names = [`${before}rate_limit`, `${before}burst_limit`] as const;
  const given = numbersAt(settings, found, ...names);
  if (given === undefined) return;
  const [rate_limit, burst_limit] = names.map((name) => given[name]);
  const off = rate_limit === -1 && burst_limit === -1 ? '-1 turns it off' : undefined;
  const limit = off === undefined ? { like: 'aws-api-gateway', rate_limit, burst_limit } : undefined;
  found.unless(off, settings, { ...place, limit });
}

/** `/orders/POST` */
function pathOf(path: string): ValueTest[] {
  const [, own = ''] = /^(\/.*)\/(?:[A-Z]+|\*)$/.exec(path) ?? [];
  return own === '' ? [] : [pathWith(own)];
}

export function readStage({ name, body }: Resource, found: FoundLimits): void {
  const all = { name: 'throttling', key: everyone };
  const stage = `stage ${textAt(body, 'stage_name') ?? textAt(body, 'name') ?? name}`;
  const path = textAt(body, 'method_path');
  const method = path === '*/*' ? undefined : path;
  const ofMethod = method === undefined ? [] : pathOf(`/${method.replaceAll('~1', '/').replace(/^[/]/, '')}`);
  for (const settings of ['settings', 'default_route_settings', 'route_settings'].flatMap((one) => listAt(body, one))) {
    if (!['throttling_rate_limit', 'throttling_burst_limit'].some((one) => isGiven(at(settings, one)))) continue;
    const route = textAt(settings, 'route_key');
    const one = route ?? method;
    if (one !== undefined) sayOne(settings, one, found);
    const where = one === undefined ? stage : `${stage}, ${one}`;
    const paths = route === undefined || route === '$default' ? ofMethod : [pathWith(route.replace(/^\S+\s+/, ''))];
    throttle(settings, 'throttling_', { ...all, where, paths }, found);
  }
}

/** A path with templates: `{name}` is any one part, `{name+}` all that follow. */
function pathWith(text: string): ValueTest {
  if (!text.includes('{')) return { is: 'equal', value: text };
  const parts = text
    .split(/(\{[^}]*\})/)
    .map((part, i) => (i % 2 === 0 ? literal(part) : part.endsWith('+}') ? '.+' : '[^/]+'));
  return { is: 'matching', value: `^${parts.join('')}$` };
}
