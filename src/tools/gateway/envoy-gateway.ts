// Limits of Envoy Gateway: a policy, and the routes of the Gateway API that it targets.
//
//   kind: BackendTrafficPolicy
//   spec: { targetRefs: [{ kind: HTTPRoute, name: api }], rateLimit: { global: { rules: [{ limit: { requests: 3, unit: Hour } }] } } }
//
// Source: the API reference of Envoy Gateway 1.x.
import { at, isGiven, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import { units } from './envoy-descriptors.js';
import type { FoundLimits, Like } from './found.js';
import { testOf } from './header-match.js';
import { everyone, headerText, keyOfAll, keyOfText, type LimitKey, perClient } from './limit-key.js';
import { OVERRIDDEN, type PolicyTarget, readTargeted, targetPlace } from './policy-targets.js';
import * as ask from './request-condition.js';

export function readPolicies(roots: readonly TreeEntry[], found: FoundLimits) {
  const policies = roots.filter((root) => textAt(root, 'kind') === 'BackendTrafficPolicy');
  readTargeted(policies, roots, found, (policy, targets) => readPolicy(policy, targets, found));
}

/** Each route counts separately, unless the rule is shared. */
function readPolicy(root: TreeEntry, places: readonly PolicyTarget[], found: FoundLimits) {
  const name = textAt(root, 'metadata', 'name') ?? 'policy';
  const limits = at(root, 'spec', 'rateLimit');
  const merge = at(root, 'spec', 'mergeType');
  if (merge !== undefined) found.refuse(merge, 'mergeType is not read: a policy replaces that of its gateway here');
  return (['global', 'local'] as const).flatMap((type) => {
    const rules = listAt(limits, type, 'rules').map((rule) => ({ rule, ...selected(rule, found) }));
    // A bucket without selectors is for requests that no other rule is for.
    const others = rules.flatMap(({ rule, when }) => (isGiven(at(rule, 'clientSelectors')) ? [when] : []));
    return rules.flatMap(({ rule, key, when: own }) => {
      const requests = numberAt(rule, 'limit', 'requests');
      const unit = (textAt(rule, 'limit', 'unit') ?? '').toLowerCase();
      if (requests === undefined || !units.includes(unit) || (type === 'local' && SECONDS[unit] === undefined))
        return found.refuse(rule, 'the rule has no number of requests or no unit') ?? [];
      if (isGiven(at(rule, 'cost'))) found.refuse(at(rule, 'cost')!, 'cost is not read: a request costs 1 here');
      const bucket: Like = {
        like: 'envoy-local',
        max_tokens: requests,
        tokens_per_fill: requests,
        fill_interval: SECONDS[unit],
      };
      const isRest = type === 'local' && !isGiven(at(rule, 'clientSelectors'));
      const when = isRest ? ask.not(ask.oneHolds(...others)) : own;
      const place = {
        name,
        key,
        when,
        limit: type === 'global' ? { like: 'envoy-ratelimit', requests_per_unit: requests, unit } : bucket,
        isDryRun: textAt(rule, 'shadowMode') === 'true',
      };
      const applied = textAt(limits, 'type') ?? type;
      const overridden = places.length === 0 ? OVERRIDDEN : undefined;
      const off = applied.toLowerCase() === type ? overridden : `the type is ${applied}`;
      const isShared = textAt(rule, 'shared') === 'true';
      const groups = isShared ? [places] : places.map((one) => [one]);
      return (off === undefined ? groups : [[]]).flatMap((targets) => {
        const limiter = { ...place, ...targetPlace(targets, rule, found, !isShared) };
        return found.unless(off, rule, limiter).map((one) => ({ targets, limiter: one }));
      });
    });
  });
}

const SECONDS: Readonly<Record<string, string>> = { second: '1s', minute: '60s', hour: '3600s', day: '86400s' };

/** All selectors hold. Distinct counts each value separately; Exact, the default, counts all matches together. */
function selected(rule: TreeEntry, found: FoundLimits) {
  const keys: LimitKey[] = [];
  const asked: ask.RequestCondition[] = [];
  for (const selector of listAt(rule, 'clientSelectors'))
    for (const [kind, given] of selector.fields) {
      const many = given.items.length > 0 ? given.items : [given];
      const tests = many.map((one) => {
        const isDistinct = textAt(one, 'type') === 'Distinct';
        if (isDistinct)
          keys.push(kind === 'sourceCIDR' ? perClient : keyOfText(`each ${nameOf(one)}`, headerText(nameOf(one))));
        const held = conditionOf(kind, one, found);
        return textAt(one, 'invert') === 'true' ? ask.not(held) : held;
      });
      const isOpen = kind === 'methods' && many.length > 1 && many.some((one) => textAt(one, 'invert') === 'true');
      if (isOpen) asked.push(ask.missing('what several methods ask of which some are inverted'));
      else asked.push(kind === 'methods' ? ask.oneHolds(...tests) : ask.allHold(...tests));
    }
  const parts = keys.map(({ parts }) => parts);
  const key = keys.length === 0 ? everyone : keyOfAll(keys.map(({ text }) => text).join(', '), parts);
  return { key, when: ask.allHold(...asked) };
}

const nameOf = (header: TreeEntry) => textAt(header, 'name') ?? '';

const HEADERS: Readonly<Record<string, string>> = { methods: ':method', path: ':path' };

function conditionOf(kind: string, one: TreeEntry, found: FoundLimits): ask.RequestCondition {
  const value = textAt(one, 'value') ?? '';
  if (kind === 'sourceCIDR') {
    if (value.endsWith('/0')) {
      found.refuse(one, `addresses of IPv${value.includes(':') ? 4 : 6} are not limited by ${value}; here they are`);
      return ask.ALWAYS;
    }
    return ask.isFrom([value]);
  }
  const name = nameOf(one);
  const header = HEADERS[kind] ?? (kind === 'headers' ? name : undefined);
  if (header === undefined && kind !== 'queryParams') return ask.missing(`what ${kind} asks`);
  const text = header === undefined ? ask.argumentText(name) : headerText(header);
  return textAt(one, 'type') === 'Distinct' ? ask.isThere(text) : ask.tested(text, testOf(one));
}
