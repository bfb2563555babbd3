// Limits in objects of Kubernetes: annotations of ingress-nginx, and what a route of the Gateway API leads to.
//
//   nginx.ingress.kubernetes.io/limit-rps: "4"                 { like: nginx, rate: 4r/s, burst: 20, nodelay: true }
//   nginx.ingress.kubernetes.io/limit-burst-multiplier: "5"    the default
//
// Source: the annotations of ingress-nginx 1.x: https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/
import { at, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import type { FoundLimiter, FoundLimits, Like, PathPattern } from './found.js';

type Reach = Pick<FoundLimiter, 'hosts' | 'paths'>;

/** Hosts and paths of a route, as far as it is in the files. */
export function reachOfRoute(roots: readonly TreeEntry[], kind: string, name: string): Reach {
  const route = roots.find((one) => textAt(one, 'kind') === kind && textAt(one, 'metadata', 'name') === name);
  const paths = listAt(route, 'spec', 'rules').flatMap((rule) =>
    listAt(rule, 'matches').flatMap((match) => pathOf(match)),
  );
  const isAll = paths.some(({ kind: of, text }) => of === 'prefix' && text === '/');
  return { hosts: listAt(route, 'spec', 'hostnames').map(({ value }) => String(value)), paths: isAll ? [] : paths };
}

function pathOf(match: TreeEntry): PathPattern[] {
  const text = textAt(match, 'path', 'value');
  if (text === undefined) return [];
  const type = textAt(match, 'path', 'type') ?? 'PathPrefix';
  return [{ kind: type === 'Exact' ? 'exact' : type === 'RegularExpression' ? 'regex' : 'prefix', text }];
}

const OURS = 'nginx.ingress.kubernetes.io/';

export function readIngress(roots: readonly TreeEntry[], found: FoundLimits): void {
  const settings = roots.find(
    (one) => textAt(one, 'kind') === 'ConfigMap' && at(one, 'data', 'limit-req-status-code') !== undefined,
  );
  const status = numberAt(settings, 'data', 'limit-req-status-code') ?? 503;
  for (const root of roots) {
    if (textAt(root, 'kind') !== 'Ingress') continue;
    const { file } = root;
    const annotations = at(root, 'metadata', 'annotations');
    const given = (name: string) => annotations?.fields.get(`${OURS}${name}`);
    const number = (name: string): number | undefined => {
      const one = given(name);
      if (one === undefined) return undefined;
      const value = numberAt(one);
      if (value === undefined || !Number.isInteger(value) || value < 0) {
        found.refuse(file, one.line, `${name} is not a whole number`);
        return undefined;
      }
      return value;
    };
    const multiplier = number('limit-burst-multiplier') ?? 5;
    const hosts = listAt(root, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') ?? []);
    const paths = listAt(root, 'spec', 'rules').flatMap((rule) =>
      listAt(rule, 'http', 'paths').map((one): PathPattern => {
        const type = textAt(one, 'pathType');
        return { kind: type === 'Exact' ? 'exact' : 'prefix', text: textAt(one, 'path') ?? '/' };
      }),
    );
    const place = {
      where: `Ingress ${textAt(root, 'metadata', 'name') ?? ''}${hosts.length === 0 ? '' : `, host ${hosts.join(', ')}`}`,
      hosts,
      paths: paths.some(({ text }) => text === '/') ? [] : paths,
      status,
    };
    const exempt = given('limit-whitelist') ?? given('limit-allowlist');
    const limits: readonly (readonly [name: string, like: (n: number) => Like])[] = [
      ['limit-rps', (n) => ({ like: 'nginx', rate: `${n}r/s`, burst: n * multiplier, nodelay: true })],
      ['limit-rpm', (n) => ({ like: 'nginx', rate: `${n}r/m`, burst: n * multiplier, nodelay: true })],
      ['limit-connections', (n) => ({ like: 'nginx-limit-conn', connections: n })],
    ];
    for (const [name, like] of limits) {
      const n = number(name);
      if (n === undefined || n === 0) continue;
      found.limiter(file, {
        name,
        line: given(name)!.line,
        ...place,
        limit: like(n),
        counts: name === 'limit-connections' ? 'concurrency' : 'requests',
      });
      if (exempt !== undefined)
        found.refuse(file, exempt.line, `clients of ${textAt(exempt)} are not counted; here they are`);
    }
    const snippet = [...(annotations?.fields ?? [])].find(
      ([one, { value }]) => one.endsWith('-snippet') && /\blimit_(?:req|conn)\b/.test(String(value)),
    );
    if (snippet !== undefined) found.refuse(file, snippet[1].line, 'limits in a snippet are not read');
  }
}
