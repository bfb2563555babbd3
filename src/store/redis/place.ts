// Where Redis is, as a URL says it.
//
//   redis://host:6379            rediss:// with TLS            one server
//   redis+cluster://host:7000,host:7001,host:7002              some of the nodes of a cluster; the others are found
//   redis+sentinel://host:26379,host:26379/name                the sentinels that know the master called `name`
//
// Before the host: `user:password@`. At the end: `?deadline_ms=250`, how long a call may take; `?wait=1`, how many replicas must have a count or a
// row before it is answered, so that a failover loses nothing that was.
import { Failure } from '../../schema/failure.js';

const DEFAULT_PORT = 6_379;

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

export type RedisPlace = {
  readonly nodes: readonly RedisNode[];
  readonly credentials: { readonly username?: string; readonly password?: string };
  readonly deadlineMs: number;
  readonly wait: number;
} & (
  | { readonly kind: 'single'; readonly isTls: boolean }
  | { readonly kind: 'cluster' }
  | { readonly kind: 'sentinel'; readonly name: string }
);

const SHAPE =
  /^(redis|rediss|redis\+cluster|redis\+sentinel):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?]+)(?:\/([^/?]*))?\/?(?:\?(.*))?$/;

/** @throws Failure `wrong_usage` */
export function redisPlace(url: string): RedisPlace {
  const [, scheme, username = '', password = '', hosts = '', path = '', query = ''] = SHAPE.exec(url) ?? [];
  if (scheme === undefined)
    throw unreadable('It begins with redis://, rediss://, redis+cluster:// or redis+sentinel://.');
  const nodes = hosts.split(',').map((text) => {
    const [, host = '', port] = /^(\[[0-9a-fA-F:]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
    if (host === '' || Number(port ?? DEFAULT_PORT) > 65_535) throw unreadable(`"${text}" is no host and port.`);
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port ?? DEFAULT_PORT) };
  });
  const credentials = {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
  const common = { nodes, credentials, ...settingsIn(query) };
  switch (scheme) {
    case 'redis+cluster':
      return { kind: 'cluster', ...common };
    case 'redis+sentinel':
      if (path === '') throw unreadable('Sentinels are asked for a master by name: redis+sentinel://host:26379/name.');
      return { kind: 'sentinel', ...common, name: path };
    default:
      if (nodes.length > 1) throw unreadable('Several servers are a cluster: redis+cluster://.');
      if (path !== '' && path !== '0') throw unreadable('Weir uses database 0, as a cluster has no other.');
      return { kind: 'single', isTls: scheme === 'rediss', ...common };
  }
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
