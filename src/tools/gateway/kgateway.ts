// Limits of kgateway: TrafficPolicy, a bucket in each Envoy or descriptors for envoyproxy/ratelimit, and the routes that it targets.
//
//   kind: TrafficPolicy
//   spec: { targetRefs: [{ kind: HTTPRoute, name: api }], rateLimit: { local: { tokenBucket: { maxTokens: 5, tokensPerFill: 5, fillInterval: 1s } } } }
//
// Source: TrafficPolicy and GatewayExtension of gateway.kgateway.dev/v1alpha1, and how kgateway 2 translates them.
import { at, documentsOf, isGiven, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import { bucketOf, type Domains, entriesSent, keyOfEntries, sayShares } from './envoy-descriptors.js';
import type { FoundLimits } from './found.js';
import { objectNamed } from './kubernetes.js';
import { everyone, type LimitKey } from './limit-key.js';
import { OVERRIDDEN, type PolicyTarget, readTargeted, targetPlace } from './policy-targets.js';

/** A policy replaces that of its gateway where it has the same kind of limit. */
export function readTrafficPolicies(roots: readonly TreeEntry[], domains: Domains, found: FoundLimits): void {
  const policies = roots.filter((root) => textAt(root, 'kind') === 'TrafficPolicy');
  const having = (kind: string) => policies.filter((one) => at(one, 'spec', 'rateLimit', kind) !== undefined);
  readTargeted(having('local'), roots, found, (policy, targets) => readLocal(policy, targets, found));
  readTargeted(having('global'), roots, found, (policy, targets) => {
    const rule = at(policy, 'spec', 'rateLimit', 'global')!;
    const [name = '', namespace] = ['name', 'namespace'].map((field) => textAt(rule, 'extensionRef', field));
    const extension = objectNamed(roots, 'GatewayExtension', name, policy, namespace);
    const domain = textAt(extension, 'spec', 'rateLimit', 'domain');
    if (domain === undefined) return found.refuse(rule, `no GatewayExtension ${name} is among the files`) ?? [];
    if (!domains.has(domain))
      return found.refuse(rule, `the limits of the domain ${domain} are in no file that was read`) ?? [];
    const limiters = targets.length > 0 ? domains.reached(domain, listAt(rule, 'descriptors').map(actionsOf)) : [];
    return limiters.map((limiter) => ({ targets, limiter }));
  });
  for (const policy of having('quota'))
    found.refuse(at(policy, 'spec', 'rateLimit', 'quota')!, 'limits of a quota service are not read');
}

/** The entries of a descriptor as actions of Envoy. */
function actionsOf(descriptor: TreeEntry): TreeEntry {
  const actions = listAt(descriptor, 'entries').map((entry) => {
    const [type, header] = [textAt(entry, 'type'), textAt(entry, 'header')];
    if (type === 'RemoteAddress') return { remote_address: {} };
    const [descriptor_key, descriptor_value] = ['key', 'value'].map((name) => textAt(entry, 'generic', name));
    if (type === 'Generic') return { generic_key: { descriptor_key, descriptor_value } };
    const named =
      type === 'Path'
        ? { header_name: ':path', descriptor_key: 'path' }
        : { header_name: header, descriptor_key: header };
    return { request_headers: named };
  });
  const { file, line } = descriptor;
  const [read] = documentsOf({ name: file, text: JSON.stringify({ actions }) }, () => {});
  return { ...read!, line };
}

function readLocal(policy: TreeEntry, targets: readonly PolicyTarget[], found: FoundLimits) {
  const local = at(policy, 'spec', 'rateLimit', 'local')!;
  const [enabled = 100, enforced = 100] = ['percentEnabled', 'percentEnforced'].map((name) => numberAt(local, name));
  const descriptors = listAt(local, 'descriptors');
  const buckets = [
    [at(local, 'tokenBucket'), everyone],
    ...descriptors.map((one) => [at(one, 'tokenBucket'), keyOf(one)]),
  ] as [TreeEntry | undefined, LimitKey][];
  const name = textAt(policy, 'metadata', 'name') ?? 'policy';
  if (!buckets.some(([bucket]) => isGiven(bucket)))
    found.unused(local, { name, what: `${name} has no bucket: what it targets has no limit of its gateway` });
  // All routes of a gateway share its bucket; a route has its own.
  const [gateway] = targets.flatMap((one) => one.gateway ?? []);
  const places = gateway === undefined && targets.length > 0 ? targets.map((one) => [one]) : [targets];
  const off = targets.length === 0 ? OVERRIDDEN : enabled === 0 ? 'percentEnabled is 0' : undefined;
  return buckets.flatMap(([bucket, key]) => {
    const limit = isGiven(bucket) ? bucketOf(bucket, found) : undefined;
    if (!isGiven(bucket) || limit === undefined) return [];
    sayShares(bucket, enabled, enforced, found);
    const own = { name, key, limit, isDryRun: enforced === 0 };
    return places.flatMap((some) => {
      const place = { ...own, ...targetPlace(some, bucket, found, gateway === undefined) };
      const limiters = found.unless(off, bucket, { ...place, ...(gateway && { where: gateway }) });
      return limiters.map((limiter) => ({ targets: some, limiter }));
    });
  });
}

function keyOf(descriptor: TreeEntry): LimitKey {
  const named = entriesSent(actionsOf(descriptor)).filter((one) => !one.includes('='));
  return named.length === 0 ? everyone : keyOfEntries(named.map((name) => ({ name, value: undefined })));
}
