// Addresses in ranges, without a library: also in a browser.
//
//   192.0.2.7 in 192.0.2.0/24      2001:db8::1 in 2001:db8::/32      10.0.0.5 in 10.0.0.1-10.0.0.9

export function isInRange(address: string, range: string): boolean {
  const asked = bitsOf(address);
  if (asked === undefined) return false;
  const [first = '', last] = range.split('-');
  if (last !== undefined) {
    const [from, to] = [bitsOf(first), bitsOf(last)];
    const isOneKind = from?.size === asked.size && to?.size === asked.size;
    return isOneKind && asked.bits >= from.bits && asked.bits <= to.bits;
  }
  const [net = '', length] = range.split('/');
  const own = bitsOf(net);
  if (own?.size !== asked.size) return false;
  const rest = BigInt(own.size - (length === undefined ? own.size : Math.min(Number(length), own.size)));
  return asked.bits >> rest === own.bits >> rest;
}

/** Undefined if it is no address, and for a length of a range that is no number. */
export function isRange(range: string): boolean {
  const [net = '', length = '0'] = range.split('/');
  return net.split('-').every((one) => bitsOf(one) !== undefined) && /^\d{1,3}$/.test(length);
}

function bitsOf(address: string) {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(mapped)) {
    const bytes = mapped.split('.').map(Number);
    if (bytes.some((byte) => byte > 255)) return undefined;
    return { size: 32, bits: bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n) };
  }
  const [head = '', tail, extra] = address.split('::');
  if (!address.includes(':') || extra !== undefined) return undefined;
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = 8 - before.length - after.length;
  if (tail === undefined ? zeros !== 0 : zeros < 1) return undefined;
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  if (!all.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  return { size: 128, bits: all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n) };
}
