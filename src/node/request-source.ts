// What a request is counted by, and takes turns by: its owner, or the network of its address.

import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { networkOf } from '../traffic/network.js';
import type { Caller } from './permission.js';

export function ofOwner(owner: string): string {
  return `owner ${owner}`;
}

export function ofAddress(ip: string): string {
  return `address ${networkOf(ip)}`;
}

export function sourceOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller === undefined ? ofAddress(ip) : ofOwner(caller.owner);
}

/** The pool of who asks: that of the address for which the key was minted, or of the address itself. */
export function poolOfCaller(caller: Caller | undefined, ip: string): string {
  return caller?.key.network ?? addressPool(ip);
}

/** The network in which owners share what there is room for: that of a provider's customer. */
export function addressPool(ip: string): string {
  const network = networkOf(ip, 48);
  return isIPv4(network) ? network.replace(/\.\d+$/, '.0/24') : network;
}
