// Browser substitutes for `node:net` and `Buffer`, inserted by the bundler, for the readers of logs and gateway files.
import { Buffer } from 'buffer/';

export { Buffer };

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

/** Uses the browser's address parser; a zone (`%eth0`) may follow. */
export function isIPv6(text: string): boolean {
  const [address = '', zone, ...more] = text.split('%');
  if (more.length > 0 || zone === '' || !/^[\da-f:.]+$/i.test(address)) return false;
  return URL.canParse(`http://[${address}]/`);
}

export function isIP(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return isIPv6(text) ? 6 : 0;
}
