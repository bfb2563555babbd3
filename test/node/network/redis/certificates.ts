// Certificates for tests, by openssl: an authority in a folder, and what it has signed.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificates } from './server.js';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** A certificate for these names, as openssl writes them: `DNS:redis.test,IP:127.0.0.1`. */
export function certified(folder: string, name: string, altNames: string): Certificates {
  const at = (file: string) => join(folder, file);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const request = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  if (!existsSync(at('ca.pem')))
    openssl(...request, '-x509', '-days', '2', '-subj', '/CN=ca', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  openssl(...request, '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`));
  writeFileSync(at(`${name}.ext`), `subjectAltName=${altNames}\n`);
  const signing = ['x509', '-req', '-days', '2', '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
  openssl(...signing, '-in', at(`${name}.csr`), '-extfile', at(`${name}.ext`), '-out', at(`${name}.pem`));
  return { ca: at('ca.pem'), cert: at(`${name}.pem`), key: at(`${name}.key`) };
}
