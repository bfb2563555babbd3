// Where Redis is, as a URL says it.
//
//   redis://host:6379            rediss:// with TLS            one server
//   redis+cluster://host:7000,host:7001,host:7002              some of the nodes of a cluster; the others are found
//   redis+sentinel://host:26379,host:26379/name                the sentinels that know the master called `name`
//
// Before the host: `user:password@`.
import { Failure } from '../../schema/failure.js';

const DEFAULT_PORT = 6_379;

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

export type RedisPlace = {
  readonly nodes: readonly RedisNode[];
  readonly credentials: { readonly username?: string; readonly password?: string };
} & (
  | { readonly kind: 'single'; readonly isTls: boolean }
  | { readonly kind: 'cluster' }
  | { readonly kind: 'sentinel'; readonly name: string }
);

const SHAPE =
  /^(redis|rediss|redis\+cluster|redis\+sentinel):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/]+)(?:\/([^/]*))?\/?$/;

/** @throws Failure `wrong_usage` */
export function redisPlace(url: string): RedisPlace {
  const [, scheme, username = '', password = '', hosts = '', path = ''] = SHAPE.exec(url) ?? [];
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
  switch (scheme) {
    case 'redis+cluster':
      return { kind: 'cluster', nodes, credentials };
    case 'redis+sentinel':
      if (path === '') throw unreadable('Sentinels are asked for a master by name: redis+sentinel://host:26379/name.');
      return { kind: 'sentinel', nodes, credentials, name: path };
    default:
      if (nodes.length > 1) throw unreadable('Several servers are a cluster: redis+cluster://.');
      if (path !== '' && path !== '0') throw unreadable('Weir uses database 0, as a cluster has no other.');
      return { kind: 'single', isTls: scheme === 'rediss', nodes, credentials };
  }
}

function unreadable(why: string): Failure {
  return new Failure('wrong_usage', {
    what: 'The URL of Redis cannot be read.',
    why,
    fix: 'Give for example redis://127.0.0.1:6379.',
  });
}
