// Which routes of the Gateway API a policy limits: a policy of a rule replaces that of its route, which replaces that of its gateway.
import { at, isGiven, listAt, type TreeEntry, textAt } from './document.js';
import { bySpecificity, type FoundLimiter, type FoundLimits } from './found.js';
import { filtersOf, isOneNamespace, namespaceOf, reachesOfRoute, sharesNamespace } from './kubernetes.js';

const targetsOf = (policy: TreeEntry) => [
  ...listAt(policy, 'spec', 'targetRefs'),
  ...listAt(policy, 'spec', 'targetRef'),
];

/** Without a limit of its own a policy that is merged leaves that of the gateway in force. */
const leaves = (policy: TreeEntry) =>
  at(policy, 'spec', 'mergeType') !== undefined && at(policy, 'spec', 'rateLimit') === undefined;

/** A route, or what is not among the files. */
export interface PolicyTarget {
  readonly title: string;
  readonly route?: TreeEntry;
  /** Whose policy it meets as one of its routes. */
  readonly gateway?: string;
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

const isSame = (one: TreeEntry, other: TreeEntry) =>
  titleOfTarget(one) === titleOfTarget(other) && textAt(one, 'sectionName') === textAt(other, 'sectionName');

const nameOf = (one: TreeEntry) => textAt(one, 'metadata', 'name');
const titleOfTarget = (target: TreeEntry) => `${textAt(target, 'kind')} ${textAt(target, 'name')}`;

/** Why a policy without targets is not in force. */
export const OVERRIDDEN = 'no route of these files is under its gateway without a policy of its own';

interface TargetedLimit {
  readonly targets: readonly PolicyTarget[];
  readonly limiter: FoundLimiter;
}

/** @param read the limits of a policy for its targets */
export function readTargeted(
  policies: readonly TreeEntry[],
  roots: readonly TreeEntry[],
  found: FoundLimits,
  read: (policy: TreeEntry, targets: readonly PolicyTarget[]) => readonly TargetedLimit[],
): void {
  const routes = roots.filter((one) => /^(?:HTTP|GRPC)Route$/.test(textAt(one, 'kind') ?? ''));
  saySimplified(policies, routes, found);
  const kindAndName = (route: TreeEntry) => `${textAt(route, 'kind')} ${nameOf(route)}`;
  const titleOf = (route: TreeEntry) => {
    const [title, namespace] = [kindAndName(route), namespaceOf(route)];
    const isOne = routes.filter((one) => kindAndName(one) === title).length === 1;
    return isOne || namespace === undefined ? title : `${title} of namespace ${namespace}`;
  };
  /** The rules with a filter that names a policy. */
  const filtered = (policy: TreeEntry) =>
    routes
      .filter((route) => sharesNamespace(route, policy))
      .flatMap((route) => rulesOf(route).map((rule) => ({ route, rule, title: titleOf(route) })))
      .filter(({ rule }) => filtersOf(rule, textAt(policy, 'kind')!).includes(nameOf(policy)!));
  const namedBy = (policy: TreeEntry, target: TreeEntry) =>
    routes
      .filter((route) => kindAndName(route) === titleOfTarget(target) && sharesNamespace(route, policy))
      .map((route) => {
        const rule = sectionOf(route, target);
        return { route, rule, title: [titleOf(route), ...(rule ? [textAt(rule, 'name')] : [])].join(', ') };
      });
  const all = policies
    .filter((policy) => !leaves(policy))
    .flatMap((policy) => [...filtered(policy), ...targetsOf(policy).flatMap((target) => namedBy(policy, target))]);
  const own = new Set(all.flatMap(({ route, rule }) => (rule === undefined ? [route] : [])));
  const replaced = new Set(all.flatMap(({ rule }) => rule ?? []));
  const limited = policies.flatMap((policy) => {
    if (at(policy, 'spec', 'rateLimit') === undefined) return [];
    const ofRules = filtered(policy);
    const targets = targetsOf(policy).flatMap((target): readonly PolicyTarget[] => {
      const [gateway, named, section] = [titleOfTarget(target), namedBy(policy, target), at(target, 'sectionName')];
      if (isGiven(section) && !named.some(({ rule }) => rule !== undefined))
        found.refuse(section, 'only a section of the target is limited; here all of it is');
      if (textAt(target, 'kind') === 'Gateway' && routes.length > 0)
        return routes
          .filter((route) => !own.has(route) && isUnder(route, target, policy))
          .map((route) => ({ route, title: titleOf(route), gateway }));
      return named.length > 0 ? named : [{ title: gateway }];
    });
    const selectors = at(policy, 'spec', 'targetSelectors');
    if (isGiven(selectors)) found.refuse(selectors, 'targets are selected by labels, which are not read');
    else if (targetsOf(policy).length + ofRules.length === 0) found.refuse(policy, 'the policy names no target');
    const places = [...ofRules, ...targets, ...(isGiven(selectors) ? [{ title: 'targets with labels' }] : [])];
    return read(policy, places);
  });
  const table = routes.flatMap((route) =>
    rulesOf(route).flatMap((rule) => {
      const limiting = replaced.has(rule) ? rule : undefined;
      const isOne = (one: PolicyTarget) => one.route === route && one.rule === limiting;
      const limiters = limited.flatMap(({ targets, limiter }) => (targets.some(isOne) ? [limiter] : []));
      return reachesOfRoute(route, rule, ['^(?:', ')$']).map((reach) => ({ ...reach, limiters }));
    }),
  );
  if (limited.length > 0 && table.length > 0) found.table(bySpecificity(table));
}

/** Routes that lead to others are not followed, and a file does not say which of two policies is the older one. */
function saySimplified(policies: readonly TreeEntry[], routes: readonly TreeEntry[], found: FoundLimits): void {
  const isLimiting = policies.some((one) => at(one, 'spec', 'rateLimit') !== undefined);
  for (const one of routes.flatMap(rulesOf).flatMap((rule) => listAt(rule, 'backendRefs')))
    if (isLimiting && textAt(one, 'kind') === 'HTTPRoute')
      found.refuse(one, `requests go on to HTTPRoute ${textAt(one, 'name')}, which is not followed`);
  for (const [i, policy] of policies.entries())
    for (const other of policies.slice(0, i).filter((one) => sharesNamespace(one, policy)))
      if (targetsOf(policy).some((target) => targetsOf(other).some((one) => isSame(one, target))))
        found.refuse(policy, `${nameOf(other)} has the same target, and the older one is in force; here both are`);
}

/** Whether the gateway of a policy serves a route. A route without parents may be a part of a file: any gateway serves it. */
function isUnder(route: TreeEntry, gateway: TreeEntry, policy: TreeEntry): boolean {
  const parents = listAt(route, 'spec', 'parentRefs');
  const isNamed = (one: TreeEntry) =>
    textAt(one, 'name') === textAt(gateway, 'name') &&
    isOneNamespace(textAt(one, 'namespace') ?? namespaceOf(route), namespaceOf(policy));
  return parents.length === 0 || parents.some(isNamed);
}

/** @param isCountedApart each match of a route is a route of Envoy with a count of its own */
export function targetPlace(
  targets: readonly PolicyTarget[],
  rule: TreeEntry,
  found: FoundLimits,
  isCountedApart: boolean,
): Pick<FoundLimiter, 'where' | 'reach'> {
  const rules = targets.flatMap((one) => one.rule ?? (one.route === undefined ? [] : rulesOf(one.route)));
  const isGateway = targets.some(({ title }) => title.startsWith('Gateway '));
  const matches = rules.flatMap((one) => listAt(one, 'matches'));
  if (isCountedApart && (matches.length > 1 || isGateway))
    found.refuse(rule, 'each match of a route has a count of its own; here they share one');
  const reach = isGateway || rules.length > 0 ? 'known' : 'unknown';
  return { where: targets.map(({ title }) => title).join(', '), reach };
}
