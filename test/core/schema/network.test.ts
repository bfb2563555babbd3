import { expect, it } from 'vitest';
import { networkOf } from '../../../src/core/schema/address-network.js';

it.each([
  ['203.0.113.7', 56, '203.0.113.7'],
  ['::ffff:203.0.113.7', 56, '203.0.113.7'],
  ['::1', undefined, '0:0:0:0::/64'],
  ['2001:0DB8:1:2::', undefined, '2001:db8:1:2::/64'],
  ['2001:db8::1', undefined, '2001:db8:0:0::/64'],
  ['2001:db8:1:2ff::9', 64, '2001:db8:1:2ff::/64'],
  ['2001:db8:1:2ff::9', 56, '2001:db8:1:200::/56'],
  ['2001:db8:1:2ff::9', 48, '2001:db8:1::/48'],
  ['fe80::1%eth0', 56, 'fe80:0:0:0::/56'],
  ['no address', 56, 'no address'],
  ['', undefined, ''],
])('the network of %s by %s bits is %s', (address, bits, network) => expect(networkOf(address, bits)).toBe(network));
