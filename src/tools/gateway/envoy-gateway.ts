// Limits of Envoy Gateway: a policy, and the routes of the Gateway API that it targets.
//
//   kind: BackendTrafficPolicy
//   spec: { targetRefs: [{ kind: HTTPRoute, name: api }], rateLimit: { global: { rules: [{ limit: { requests: 3, unit: Hour } }] } } }
//
// Source: the API reference of Envoy Gateway 1.x.
import { at, isGiven, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import { units } from './envoy-descriptors.js';
import type { FoundLimits, Like } from './found.js';
import { everyone, keyOfAll, type LimitKey, perClient, unknownKey } from './limit-key.js';
import { type PolicyTarget, readTargeted, targetPlace } from './policy-targets.js';

export function readPolicies(roots: readonly TreeEntry[], found: FoundLimits) {
  const policies = roots.filter((root) => textAt(root, 'kind') === 'BackendTrafficPolicy');
  readTargeted(policies, roots, found, (policy, targets, off) => readPolicy(policy, targets, off, found));
}

/** Each route counts separately, unless the rule is shared. */
function readPolicy(
  root: TreeEntry,
  places: readonly PolicyTarget[],
  overridden: string | undefined,
  found: FoundLimits,
) {
  const name = textAt(root, 'metadata', 'name') ?? 'policy';
  const limits = at(root, 'spec', 'rateLimit');
  const merge = at(root, 'spec', 'mergeType');
  if (merge !== undefined) found.refuse(merge, 'mergeType is not read: a policy replaces that of its gateway here');
  return (['global', 'local'] as const).flatMap((type) =>
    listAt(limits, type, 'rules').flatMap((rule) => {
      const [requests, unit] = [
        numberAt(rule, 'limit', 'requests'),
        (textAt(rule, 'limit', 'unit') ?? '').toLowerCase(),
      ];
      if (requests === undefined || !units.includes(unit) || (type === 'local' && SECONDS[unit] === undefined))
        return found.refuse(rule, 'the rule has no number of requests or no unit') ?? [];
      if (isGiven(at(rule, 'cost'))) found.refuse(at(rule, 'cost')!, 'cost is not read: a request costs 1 here');
      const bucket: Like = {
        like: 'envoy-local',
        max_tokens: requests,
        tokens_per_fill: requests,
        fill_interval: SECONDS[unit],
      };
      const place = {
        name,
        key: selected(rule, found),
        limit: type === 'global' ? { like: 'envoy-ratelimit', requests_per_unit: requests, unit } : bucket,
        isDryRun: textAt(rule, 'shadowMode') === 'true',
      };
      const applied = textAt(limits, 'type') ?? type;
      const off = applied.toLowerCase() === type ? overridden : `the type is ${applied}`;
      if (off !== undefined) {
        found.unless(off, rule, place);
        return [];
      }
      const isShared = textAt(rule, 'shared') === 'true';
      return (isShared ? [places] : places.map((one) => [one])).map((targets) => {
        const limiter = { ...place, ...targetPlace(targets, rule, found, !isShared) };
        return { targets, limiter: found.limiter(rule, limiter) };
      });
    }),
  );
}

const SECONDS: Readonly<Record<string, string>> = { second: '1s', minute: '60s', hour: '3600s', day: '86400s' };

/** Distinct counts each value separately; Exact, the default, counts all matches together. */
function selected(rule: TreeEntry, found: FoundLimits): LimitKey {
  const keys: LimitKey[] = [];
  for (const selector of listAt(rule, 'clientSelectors'))
    for (const [kind, given] of selector.fields) {
      const many = given.items.length > 0 ? given.items : [given];
      for (const one of many) {
        const isDistinct = textAt(one, 'type') === 'Distinct';
        const value = textAt(one, 'value') ?? textAt(one, 'name') ?? kind;
        if (isDistinct)
          keys.push(kind === 'sourceCIDR' ? perClient : unknownKey(`each ${textAt(one, 'name') ?? kind}`));
        const of = [kind, textAt(one, 'name'), value].filter(
          (text, i, all) => text !== undefined && all.indexOf(text) === i,
        );
        if (textAt(one, 'invert') === 'true')
          found.refuse(one, `requests of ${of.join(' ')} are exempt; here it applies to all`);
        else if (!isDistinct || (kind === 'sourceCIDR' && value !== '0.0.0.0/0' && value !== '::/0'))
          found.refuse(one, `it applies only to requests of ${of.join(' ')}; here it applies to all`);
        else if (kind === 'sourceCIDR' && value === '0.0.0.0/0')
          found.refuse(one, 'addresses of IPv6 are not limited by 0.0.0.0/0; here they are');
      }
    }
  if (keys.length === 0) return everyone;
  return keyOfAll(
    keys.map(({ text }) => text).join(', '),
    keys.map(({ parts }) => parts),
  );
}
