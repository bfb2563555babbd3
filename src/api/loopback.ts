// Whether a host is this machine itself.
/** 127.0.0.0/8, ::1 and loopback names (RFC 6761). @param hostname as in a URL, or an address */
export function isLoopback(hostname: string): boolean {
  return /^\[?::1\]?$/.test(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname) || /^(.+\.)?localhost$/i.test(hostname);
}
