// The door that `weir serve --grpc` opens: the limits of its files, with credentials from the environment variables of envoyproxy/ratelimit.
//
//   GRPC_SERVER_USE_TLS=true     GRPC_SERVER_TLS_CERT, GRPC_SERVER_TLS_KEY       files in PEM
//                                GRPC_CLIENT_TLS_CACERT                          clients need a certificate of this authority
import { createSecureContext } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { Failure } from '../../core/schema/failure.js';
import { readText } from '../../core/schema/text-file.js';
import type { DoorOptions, OpenDoor } from '../node.js';
import { readDescriptorLimits } from './limits-file.js';
import { startRateLimitService } from './rate-limit-service.js';

const CERT = 'GRPC_SERVER_TLS_CERT';
const KEY = 'GRPC_SERVER_TLS_KEY';
const CLIENT_CA = 'GRPC_CLIENT_TLS_CACERT';

/** Only envoyproxy/ratelimit has it. */
const UNKNOWN = 'GRPC_CLIENT_TLS_SAN';

/** @throws Failure of `readDescriptorLimits` and `grpcCredentials` */
export function envoyDoor({ port, files, cycleMs }: DoorOptions): OpenDoor {
  const domains = files.map(({ text, name }) => readDescriptorLimits(text, name, cycleMs));
  const credentials = grpcCredentials(process.env);
  return (context, host, log) => startRateLimitService(context, { host, port, domains, credentials }, log);
}

/** @throws Failure `wrong_usage`, `unreadable_file` */
export function grpcCredentials(environment: Readonly<Record<string, string | undefined>>): ServerCredentials {
  const isOn = environment['GRPC_SERVER_USE_TLS'] || 'false';
  if (isOn !== 'true' && isOn !== 'false') throw refused(`GRPC_SERVER_USE_TLS is "${isOn}", neither true nor false.`);
  const [cert, key, ca] = [CERT, KEY, CLIENT_CA].map((name) => environment[name] || undefined);
  if (environment[UNKNOWN])
    throw refused(`${UNKNOWN} is set: every client with a certificate of ${CLIENT_CA} may ask.`);
  if (isOn === 'false') {
    const unused = [CERT, KEY, CLIENT_CA].find((name) => environment[name]);
    if (unused !== undefined) throw refused(`${unused} is set, and GRPC_SERVER_USE_TLS is not true.`);
    return ServerCredentials.createInsecure();
  }
  if (cert === undefined || key === undefined) throw refused(`TLS needs ${CERT} and ${KEY}.`);
  const pem = (path: string, name: string) =>
    Buffer.from(readText(path, { what: `${name} ${path}`, fix: 'Give a file in PEM.' }));
  const pair = { private_key: pem(key, KEY), cert_chain: pem(cert, CERT) };
  const authority = ca === undefined ? null : pem(ca, CLIENT_CA);
  try {
    createSecureContext({
      key: pair.private_key,
      cert: pair.cert_chain,
      ...(authority === null ? {} : { ca: authority }),
    });
  } catch (error) {
    throw refused(`The certificate and the key do not fit: ${(error as Error).message}.`);
  }
  return ServerCredentials.createSsl(authority, [pair], authority !== null);
}

function refused(why: string): Failure {
  return new Failure('wrong_usage', {
    what: 'The port of gRPC was not opened.',
    why,
    fix: 'Correct the environment: GRPC_SERVER_USE_TLS=true, GRPC_SERVER_TLS_CERT, GRPC_SERVER_TLS_KEY, GRPC_CLIENT_TLS_CACERT.',
  });
}
