// Parses the URL of Redis.
//
//   redis://host:6379                                          one server
//   redis+cluster://host:7000,host:7001,host:7002              some of the nodes of a cluster; the others are found
//   redis+sentinel://host:26379,host:26379/name                the sentinels that know the master called `name`
//
// With TLS to every node and sentinel: rediss://, rediss+cluster://, rediss+sentinel://.
//
// Before the host: `user:password@`. At the end: `?deadline_ms=250`, the time limit of a call; `?wait=1`, how many replicas must have a
// count or a row before it is answered, so that a failover loses nothing that was acknowledged.
//
// Environment variables, named as in envoyproxy/ratelimit (other users can see command lines): REDIS_AUTH, REDIS_SENTINEL_AUTH, REDIS_TLS,
// REDIS_TLS_CACERT, REDIS_TLS_CLIENT_CERT, REDIS_TLS_CLIENT_KEY, REDIS_TLS_SKIP_HOSTNAME_VERIFICATION; and REDIS_TLS_SERVERNAME, the name
// in the certificates of servers that are reached by address.
import type { ConnectionOptions } from 'node:tls';
import { Failure } from '../schema/failure.js';
import { readText } from '../schema/text-file.js';

const DEFAULT_PORT = 6_379;

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export type RedisTls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'checkServerIdentity'>;

export type RedisPlace = {
  readonly nodes: readonly RedisNode[];
  readonly credentials: Credentials;
  readonly tls: RedisTls | undefined;
  readonly deadlineMs: number;
  readonly wait: number;
} & (
  | { readonly kind: 'single' }
  | { readonly kind: 'cluster' }
  | { readonly kind: 'sentinel'; readonly name: string; readonly sentinelCredentials: Credentials }
);

const SHAPE =
  /^(rediss?)(\+cluster|\+sentinel)?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?]+)(?:\/([^/?]*))?\/?(?:\?(.*))?$/;

/** @throws Failure `wrong_usage`; `unreadable_file` for a certificate or a key */
export function redisPlace(url: string, environment: Environment = process.env): RedisPlace {
  const [, scheme, kind, username = '', password = '', hosts = '', path = '', query = ''] = SHAPE.exec(url) ?? [];
  if (scheme === undefined)
    throw unreadable('It begins with redis://, redis+cluster:// or redis+sentinel://, or with rediss for TLS.');
  const nodes = hosts.split(',').map((text) => {
    const [, host = '', port] = /^(\[[0-9a-fA-F:]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
    if (host === '' || Number(port ?? DEFAULT_PORT) > 65_535) throw unreadable(`"${text}" is no host and port.`);
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port ?? DEFAULT_PORT) };
  });
  const inUrl = {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
  const auth = environment['REDIS_AUTH'] || undefined;
  if (auth !== undefined && password !== '') throw unreadable('It has a password, and so has REDIS_AUTH.');
  const credentials = auth === undefined ? inUrl : { ...inUrl, ...credentialsIn(auth) };
  const tls = tlsIn(environment, scheme === 'rediss');
  const common = { nodes, credentials, tls, ...settingsIn(query) };
  switch (kind) {
    case '+cluster':
      return { kind: 'cluster', ...common };
    case '+sentinel':
      if (path === '') throw unreadable('Sentinels are asked for a master by name: redis+sentinel://host:26379/name.');
      return {
        kind: 'sentinel',
        ...common,
        name: path,
        sentinelCredentials: credentialsIn(environment['REDIS_SENTINEL_AUTH'] || ''),
      };
    default:
      if (nodes.length > 1) throw unreadable('Several servers are a cluster: redis+cluster://.');
      if (path !== '' && path !== '0') throw unreadable('Weir uses database 0, as a cluster has no other.');
      return { kind: 'single', ...common };
  }
}

function credentialsIn(auth: string): Credentials {
  const colon = auth.indexOf(':');
  if (colon < 0) return auth === '' ? {} : { password: auth };
  return { username: auth.slice(0, colon), password: auth.slice(colon + 1) };
}

const TLS_ONLY = [
  'REDIS_TLS_CACERT',
  'REDIS_TLS_CLIENT_CERT',
  'REDIS_TLS_CLIENT_KEY',
  'REDIS_TLS_SERVERNAME',
  'REDIS_TLS_SKIP_HOSTNAME_VERIFICATION',
] as const;

function tlsIn(environment: Environment, isAsked: boolean): RedisTls | undefined {
  const [ca, cert, key, servername] = TLS_ONLY.map((name) => environment[name] || undefined);
  if (!isAsked && !isOn(environment, 'REDIS_TLS')) {
    const unused = TLS_ONLY.find((name) => environment[name] && environment[name] !== 'false');
    if (unused === undefined) return undefined;
    throw unreadable(
      `${unused} is set, and the connection is not by TLS: begin the URL with rediss, or set REDIS_TLS.`,
    );
  }
  if ((cert === undefined) !== (key === undefined))
    throw unreadable('REDIS_TLS_CLIENT_CERT and REDIS_TLS_CLIENT_KEY belong together.');
  const pem = (path: string, name: string) => readText(path, { what: `${name} ${path}`, fix: 'Give a file in PEM.' });
  return {
    ...(ca === undefined ? {} : { ca: pem(ca, 'REDIS_TLS_CACERT') }),
    ...(cert === undefined ? {} : { cert: pem(cert, 'REDIS_TLS_CLIENT_CERT') }),
    ...(key === undefined ? {} : { key: pem(key, 'REDIS_TLS_CLIENT_KEY') }),
    ...(servername === undefined ? {} : { servername }),
    ...(isOn(environment, 'REDIS_TLS_SKIP_HOSTNAME_VERIFICATION') ? { checkServerIdentity: () => undefined } : {}),
  };
}

function isOn(environment: Environment, name: string): boolean {
  const value = environment[name] || 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw unreadable(`${name} is "${value}", which is neither true nor false.`);
}

const DEADLINE_MS = 250;

function settingsIn(query: string) {
  const settings = { deadlineMs: DEADLINE_MS, wait: 0 };
  for (const [name, value] of new URLSearchParams(query)) {
    const number = Number(value);
    const isWhole = /^\d{1,6}$/.test(value);
    if (name === 'deadline_ms' && isWhole && number >= 1) settings.deadlineMs = number;
    else if (name === 'wait' && isWhole && number <= 100) settings.wait = number;
    else throw unreadable(`"${name}=${value}" is no setting: deadline_ms is from 1 to 999999, and wait from 0 to 100.`);
  }
  return settings;
}

function unreadable(why: string): Failure {
  return new Failure('wrong_usage', {
    what: 'The URL of Redis cannot be read.',
    why,
    fix: 'Give for example redis://127.0.0.1:6379.',
  });
}
