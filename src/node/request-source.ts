// What requests are counted by and queued by: the owner, or the network of the address.

import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { networkOf } from '../core/schema/address-network.js';
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

/** The network for which the key was minted, else that of the address. */
export function addressNetworkOfCaller(caller: Caller | undefined, ip: string): string {
  return caller?.key.network ?? addressNetworkOf(ip);
}

/** The network in which owners share room: that of a provider's customer. */
export function addressNetworkOf(ip: string): string {
  const network = networkOf(ip, 48);
  return isIPv4(network) ? network.replace(/\.\d+$/, '.0/24') : network;
}
