// Limits of F5's NGINX Ingress Controller: annotations of an Ingress, and Policies that a VirtualServer names. Both are read as the lines of nginx
// that the controller writes for them.
//
//   nginx.org/limit-req-rate: 10r/s          limit_req_zone $binary_remote_addr zone=api:10m rate=10r/s;
//   nginx.org/limit-req-burst: "20"          location /api { limit_req zone=api burst=20; limit_req_status 429; }
//
// Source: nginx/kubernetes-ingress 5: its annotations, k8s.nginx.org/v1, and its templates.
import type { Directive } from './directives.js';
import { at, isGiven, listAt, type TreeEntry, textAt } from './document.js';
import type { FoundLimits } from './found.js';
import { objectNamed, pathEntries } from './kubernetes.js';
import { readDirectives } from './nginx.js';

export function readNginxIngress(roots: readonly TreeEntry[], found: FoundLimits): void {
  const lines = new ControllerLines(roots, found);
  const servers = [...lines.ingresses(), ...lines.virtualServers()];
  const [first] = lines.http;
  // The controller answers requests for other hosts itself.
  if (first !== undefined)
    readDirectives(
      [...lines.http, ...servers, lineOf(first, 'server', [lineOf(first, 'listen 80 default_server')])],
      found,
    );
}

/** Fields of a limit by their names in a Policy. */
type Given = (field: string) => TreeEntry | undefined;

class ControllerLines {
  readonly http: Directive[] = [];
  readonly #zones = new Set<string>();

  constructor(
    readonly roots: readonly TreeEntry[],
    readonly found: FoundLimits,
  ) {}

  #objects(kind: string): readonly TreeEntry[] {
    return this.roots.filter((one) => textAt(one, 'kind') === kind);
  }

  /** A minion has the annotations of its master, unless it has its own. */
  ingresses(): Directive[] {
    const all = this.#objects('Ingress');
    const own = (one: TreeEntry | undefined, name: string) =>
      at(one, 'metadata', 'annotations')?.fields.get(`nginx.org/${name}`);
    const typeOf = (one: TreeEntry) => textAt(own(one, 'mergeable-ingress-type'));
    const hostOf = (one: TreeEntry | undefined) => textAt(one, 'host') ?? '_';
    const firstHost = (one: TreeEntry) => hostOf(listAt(one, 'spec', 'rules')[0]);
    const hosts = new Map<string, Directive[]>();
    const masters = all.filter((one) => typeOf(one) === 'master');
    for (const ingress of all) {
      const master = masters.find((one) => firstHost(one) === firstHost(ingress));
      const above = typeOf(ingress) === 'minion' ? master : undefined;
      const given: Given = (field) => {
        const name = `limit-req-${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
        return own(ingress, name) ?? own(above, name);
      };
      for (const name of (textAt(own(ingress, 'policies')) ?? '').split(/\s*,\s*/))
        if (isGiven(at(objectNamed(this.roots, 'Policy', name, ingress), 'spec', 'rateLimit')))
          this.found.refuse(
            own(ingress, 'policies')!,
            `an Ingress takes no rateLimit of a Policy: by ${name} it answers 500`,
          );
      const rate = given('rate');
      if (typeOf(ingress) === 'master' || (rate ?? above) === undefined) continue;
      const name = textAt(ingress, 'metadata', 'name') ?? 'Ingress';
      const limit = rate === undefined ? [] : this.#limit(rate, name, given, ['$binary_remote_addr', '429']);
      const regex = textAt(own(ingress, 'path-regex')) ?? '';
      const sign = { case_sensitive: '~ ^', case_insensitive: '~* ^', exact: '= ' }[regex];
      for (const rule of listAt(ingress, 'spec', 'rules')) {
        const locations = pathEntries(rule).map((path) => {
          const exact = textAt(path, 'pathType') === 'Exact' ? '= ' : '';
          return lineOf(path, `location ${sign ?? exact}${textAt(path, 'path') ?? '/'}`, limit);
        });
        hosts.set(hostOf(rule), [...(hosts.get(hostOf(rule)) ?? []), ...locations]);
      }
    }
    return [...hosts].map(([host, block]) => serverOf(block[0]!, host, block));
  }

  /** Policies of a route replace those of its server. */
  virtualServers(): Directive[] {
    const servers = this.#objects('VirtualServer').map((own) => {
      const locations = listAt(own, 'spec', 'routes').flatMap((route) => {
        if (isGiven(at(route, 'routeSelector')))
          this.found.refuse(route, 'routes are selected by labels, which are not read');
        const [name = '', namespace] = (textAt(route, 'route') ?? '').split('/').reverse();
        const part = objectNamed(this.roots, 'VirtualServerRoute', name, own, namespace);
        return (part === undefined ? [route] : listAt(part, 'spec', 'subroutes')).map((one) => {
          const path = (textAt(one, 'path') ?? '/').replace(/^(=|\^~|~\*|~)\s*/, '$1 ');
          return lineOf(one, `location ${path}`, this.#limits(listAt(one, 'policies').length > 0 ? one : route, own));
        });
      });
      return serverOf(own, textAt(own, 'spec', 'host') ?? '_', [...this.#limits(at(own, 'spec'), own), ...locations]);
    });
    for (const policy of this.#objects('Policy')) {
      const limit = at(policy, 'spec', 'rateLimit');
      const name = textAt(policy, 'metadata', 'name') ?? 'Policy';
      if (isGiven(limit) && ![...this.#zones].some((zone) => zone.endsWith(`/${name}`)))
        this.found.unused(limit, { name, what: `the Policy ${name} limits nothing: no VirtualServer names it` });
    }
    return servers;
  }

  /** Status and dry run are those of the first. */
  #limits(naming: TreeEntry | undefined, owner: TreeEntry): Directive[] {
    const named = listAt(naming, 'policies').flatMap((one) => {
      const name = textAt(one, 'name') ?? '';
      const policy = objectNamed(this.roots, 'Policy', name, owner, textAt(one, 'namespace'));
      if (policy === undefined) this.found.refuse(one, `no Policy ${name} is among the files`);
      const limit = at(policy, 'spec', 'rateLimit');
      return isGiven(limit) ? [{ one, limit, zone: `${textAt(owner, 'metadata', 'name')}/${name}` }] : [];
    });
    const limits = named.map(({ limit }) => limit);
    return named.flatMap(({ one, limit, zone }, i) => {
      const lines = this.#limit(limit, zone, (field) => at(limit, field), [this.#keyOf(limit, zone, limits), '503']);
      return lines.slice(0, i === 0 ? lines.length : 1).map((line) => ({ ...line, line: one.line, file: one.file }));
    });
  }

  /** The key for requests with a value; with `default` also for those whose value no other policy names. */
  #keyOf(limit: TreeEntry, zone: string, limits: readonly TreeEntry[]): string {
    const [key, source] = [textAt(limit, 'key') ?? '', sourceOf(limit)];
    if (source === undefined) return key;
    const others = limits.flatMap((one) => (one === limit ? [] : [sourceOf(one)]));
    const isDefault = textAt(limit, 'condition', 'default') === 'true';
    const none = others.flatMap((one) => (isDefault && one?.[0] === source[0] ? [[one[1], '']] : []));
    const rows = [...none, [source[1], key], ['default', isDefault ? key : '']];
    const variable = `$${zone.replace(/\W/g, '_')}`;
    const block = rows.map((words) => lineOf(limit, words));
    this.http.push(lineOf(limit, ['map', source[0], variable], block));
    return variable;
  }

  /** Defines the zone, once. @param usual key and status that are not written, and the key under a condition */
  #limit(place: TreeEntry, zone: string, given: Given, [key, code]: readonly [string, string]): Directive[] {
    const number = (field: string) => (Number(textAt(given(field))) > 0 ? ` ${field}=${textAt(given(field))}` : '');
    const isOn = (field: string) => /^(?:1|t|true)$/i.test(textAt(given(field)) ?? '');
    const size = (textAt(given('zoneSize')) ?? '10m').replace(/\d$/, '$&k');
    const written = (textAt(given('rate')) ?? '').toLowerCase();
    const rate = isOn('scale') ? scaled(written, this.found.replicas) : written;
    const counted = given('condition') === undefined ? (textAt(given('key')) ?? key) : key;
    if (!this.#zones.has(zone))
      this.http.push(lineOf(place, `limit_req_zone ${counted} zone=${zone}:${size} rate=${rate}`));
    this.#zones.add(zone);
    return [
      lineOf(place, `limit_req zone=${zone}${number('burst')}${isOn('noDelay') ? ' nodelay' : number('delay')}`),
      lineOf(place, `limit_req_status ${textAt(given('rejectCode')) ?? code}`),
      lineOf(place, `limit_req_dry_run ${isOn('dryRun') ? 'on' : 'off'}`),
    ];
  }
}

/** The variable of a condition, and the value that it has to have. */
function sourceOf(limit: TreeEntry): readonly [variable: string, value: string] | undefined {
  const [claim, variable] = [at(limit, 'condition', 'jwt'), listAt(limit, 'condition', 'variables')[0]];
  if (claim !== undefined) return [`$jwt_claim_${textAt(claim, 'claim')}`, textAt(claim, 'match') ?? ''];
  return variable && [textAt(variable, 'name') ?? '', textAt(variable, 'match') ?? ''];
}

/** Divided by the number of replicas, as the controller does. */
function scaled(rate: string, replicas: number): string {
  const [, figure = '', unit = ''] = /^(\d+)(r\/[sm])$/.exec(rate) ?? [];
  const each = Number(figure) / replicas;
  if (unit === '') return rate;
  return unit === 'r/s' && each < 1 ? `${Math.trunc(60 * each)}r/m` : `${Math.trunc(each)}${unit}`;
}

function lineOf(
  { file, line }: Pick<Directive, 'file' | 'line'>,
  text: string | readonly string[],
  block?: readonly Directive[],
): Directive {
  return { file, line, words: typeof text === 'string' ? text.split(' ') : text, block };
}

const serverOf = (of: Pick<Directive, 'file' | 'line'>, host: string, block: readonly Directive[]) =>
  lineOf(of, 'server', [lineOf(of, `server_name ${host}`), ...block]);
