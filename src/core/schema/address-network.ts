// The key under which an address is limited.
import { isIPv4, isIPv6 } from 'node:net';

/** For IPv6 its network, usually one person's, with a prefix of `bits`: a multiple of 4 from 16 to 64. */
export function networkOf(address: string, bits = 64): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped;
  const [head = '', tail] = mapped.split('%')[0]!.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const groups = tail === undefined ? first : [...first, ...zeros, ...last];
  const kept = groups.slice(0, Math.ceil(bits / 16)).map((group) => Number.parseInt(group, 16));
  const last16 = kept.length - 1;
  if (bits % 16 > 0) kept[last16] = kept[last16]! & (0xffff << (16 - (bits % 16))) & 0xffff;
  return `${kept.map((group) => group.toString(16)).join(':')}::/${bits}`;
}
