// Checks from INFO whether a Redis server keeps what it has acknowledged.
//
//   maxmemory_policy:allkeys-lru   keys of records, counts and credentials are evicted silently: noeviction is needed
//   connected_slaves:0             with ?wait=1 in the URL no answer would ever count as kept
import { Failure } from '../../../core/schema/failure.js';

export interface Fitness {
  readonly policy: string | undefined;
  readonly replicas: number | undefined;
}

export function fitnessOf(info: string): Fitness {
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const replicas = field('connected_slaves');
  return { policy: field('maxmemory_policy'), replicas: replicas === undefined ? undefined : Number(replicas) };
}

/** @param wait replicas that must have what a call wrote @returns undefined if all servers are fit */
export function unfitness(servers: readonly Fitness[], wait: number): Failure | undefined {
  for (const { policy, replicas } of servers) {
    if (policy !== undefined && policy !== 'noeviction')
      return new Failure('store_unfit', {
        what: 'Redis may evict counts, keys and records.',
        why: `Its maxmemory-policy is ${policy}: once its memory is full, it deletes what was acknowledged, and a limited client is admitted again.`,
        fix: 'Set it to noeviction, in redis.conf and by CONFIG SET maxmemory-policy noeviction.',
      });
    if (replicas !== undefined && replicas < wait)
      return new Failure('store_unfit', {
        what: 'Redis has too few replicas.',
        why: `wait=${wait} in its URL asks for ${wait === 1 ? 'a replica' : `${wait} replicas`}, and it has ${replicas}: it answers only once that many have what was written.`,
        fix: 'Start the replicas, or leave ?wait= out: then a failover may lose what was acknowledged last.',
      });
  }
  return undefined;
}

export function unchecked(error: Error): Failure {
  return new Failure('store_unfit', {
    what: 'It cannot be checked whether Redis evicts keys.',
    why: `It refuses INFO: ${error.message}.`,
    fix: 'Allow the user of the node to run INFO, and see that maxmemory-policy is noeviction.',
    cause: error,
  });
}
