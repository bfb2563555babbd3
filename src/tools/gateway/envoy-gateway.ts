// Limits of Envoy Gateway: a policy, and the routes of the Gateway API that it targets.
//
//   kind: BackendTrafficPolicy
//   spec: { targetRefs: [{ kind: HTTPRoute, name: api }], rateLimit: { global: { rules: [{ limit: { requests: 3, unit: Hour } }] } } }
//
// Source: the API reference of Envoy Gateway 1.x.
import { at, isGiven, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import { units } from './envoy-descriptors.js';
import {
  bySpecificity,
  everyone,
  type FoundLimits,
  keyOfAll,
  type Like,
  type LimitKey,
  perClient,
  unknownKey,
} from './found.js';
import { isOneNamespace, namespaceOf, reachOfRules, sharesNamespace } from './kubernetes.js';

const targetsOf = (policy: TreeEntry) => [
  ...listAt(policy, 'spec', 'targetRefs'),
  ...listAt(policy, 'spec', 'targetRef'),
];

/** A route, or what is not among the files. */
interface Target {
  readonly title: string;
  readonly route?: TreeEntry;
  /** The rule of the route that alone is meant. */
  readonly rule?: TreeEntry | undefined;
}

/** A route without rules is one for every path. */
const rulesOf = (route: TreeEntry) => {
  const rules = listAt(route, 'spec', 'rules');
  return rules.length > 0 ? rules : [route];
};

const sectionOf = (route: TreeEntry, target: TreeEntry) =>
  rulesOf(route).find(
    (rule) => at(rule, 'name') !== undefined && textAt(rule, 'name') === textAt(target, 'sectionName'),
  );

const nameOf = (one: TreeEntry) => textAt(one, 'metadata', 'name');

/** A policy of a rule replaces that of its route, which replaces that of its gateway. */
export function readPolicies(roots: readonly TreeEntry[], found: FoundLimits) {
  const policies = roots.filter((root) => textAt(root, 'kind') === 'BackendTrafficPolicy');
  const routes = roots.filter((one) => /^(?:HTTP|GRPC)Route$/.test(textAt(one, 'kind') ?? ''));
  const namedBy = (policy: TreeEntry, target: TreeEntry) =>
    routes.filter(
      (one) =>
        textAt(one, 'kind') === textAt(target, 'kind') &&
        nameOf(one) === textAt(target, 'name') &&
        sharesNamespace(one, policy),
    );
  const own = new Set(
    policies.flatMap((policy) =>
      targetsOf(policy).flatMap((one) => namedBy(policy, one).filter((route) => sectionOf(route, one) === undefined)),
    ),
  );
  const titleOf = (route: TreeEntry) => `${textAt(route, 'kind')} ${nameOf(route)}`;
  const titled = (route: TreeEntry): Target => {
    const [title, namespace] = [titleOf(route), namespaceOf(route)];
    const isOne = routes.filter((one) => titleOf(one) === title).length === 1;
    return { route, title: isOne || namespace === undefined ? title : `${title} of namespace ${namespace}` };
  };
  const limited = policies.flatMap((policy) => {
    const targets = targetsOf(policy).flatMap((target): Target[] => {
      if (textAt(target, 'kind') === 'Gateway' && routes.length > 0)
        return routes.filter((route) => !own.has(route) && isUnder(route, target, policy)).map(titled);
      const named = namedBy(policy, target);
      if (named.length > 0)
        return named.map((route) => {
          const rule = sectionOf(route, target);
          const { title } = titled(route);
          return { route, rule, title: rule === undefined ? title : `${title}, ${textAt(rule, 'name')}` };
        });
      return [{ title: `${textAt(target, 'kind')} ${textAt(target, 'name')}` }];
    });
    return readPolicy(policy, targets, found);
  });
  const limitersOf = (route: TreeEntry, rule: TreeEntry | undefined) =>
    limited.flatMap(({ targets, limiter }) =>
      targets.some((one) => one.route === route && one.rule === rule) ? [limiter] : [],
    );
  const replaced = new Set(
    policies.flatMap((policy) =>
      targetsOf(policy).flatMap((one) => namedBy(policy, one).flatMap((route) => sectionOf(route, one) ?? [])),
    ),
  );
  const table = routes.flatMap((route) =>
    rulesOf(route).map((rule) => {
      const limiters = limitersOf(route, replaced.has(rule) ? rule : undefined);
      return { ...reachOfRules(route, [rule]), limiters };
    }),
  );
  if (limited.length > 0 && table.length > 0) found.table(bySpecificity(table));
}

/** Whether the gateway of a policy serves a route. A route without parents may be a part of a file: any gateway serves it. */
function isUnder(route: TreeEntry, gateway: TreeEntry, policy: TreeEntry): boolean {
  const parents = listAt(route, 'spec', 'parentRefs');
  const isNamed = (one: TreeEntry) =>
    textAt(one, 'name') === textAt(gateway, 'name') &&
    isOneNamespace(textAt(one, 'namespace') ?? namespaceOf(route), namespaceOf(policy));
  return parents.length === 0 || parents.some(isNamed);
}

/** Each route counts separately, unless the rule is shared. */
function readPolicy(root: TreeEntry, targets: readonly Target[], found: FoundLimits) {
  const name = textAt(root, 'metadata', 'name') ?? 'policy';
  const limits = at(root, 'spec', 'rateLimit');
  if (limits === undefined) return [];
  const selectors = at(root, 'spec', 'targetSelectors');
  const named = targetsOf(root);
  if (isGiven(selectors)) found.refuse(selectors, 'targets are selected by labels, which are not read');
  else if (named.length === 0) found.refuse(root, 'the policy names no target');
  for (const one of named)
    if (
      isGiven(at(one, 'sectionName')) &&
      !targets.some(({ rule }) => textAt(rule, 'name') === textAt(one, 'sectionName'))
    )
      found.refuse(at(one, 'sectionName')!, 'only a section of the target is limited; here all of it is');
  const places = [...targets, ...(isGiven(selectors) ? [{ title: 'targets with labels' }] : [])];
  const overridden =
    places.length > 0 ? undefined : 'no route of these files is under its gateway without a policy of its own';
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
      return (isShared ? [places] : places.map((one) => [one])).map((some: readonly Target[]) => {
        const rules = some.flatMap((one) => one.rule ?? (one.route === undefined ? [] : rulesOf(one.route)));
        const isGateway = some.some(({ title }) => title.startsWith('Gateway '));
        const matches = rules.flatMap((one) => listAt(one, 'matches'));
        if (!isShared && (matches.length > 1 || isGateway))
          found.refuse(rule, 'each match of a route has a count of its own; here they share one');
        const reach = isGateway || rules.length > 0 ? ('known' as const) : ('unknown' as const);
        const limiter = { ...place, where: some.map(({ title }) => title).join(', '), reach };
        return { targets: some, limiter: found.limiter(rule, limiter) };
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
