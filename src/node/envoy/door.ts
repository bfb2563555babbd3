// The door that `weir serve --grpc` opens: the limits of its files, with the credentials of the environment.
import type { DoorOptions, OpenDoor } from '../node.js';
import { readDescriptorLimits } from './limits-file.js';
import { startRateLimitService } from './rate-limit-service.js';
import { grpcCredentials } from './server-credentials.js';

/** @throws Failure of `readDescriptorLimits` and `grpcCredentials` */
export function envoyDoor({ port, files, cycleMs }: DoorOptions): OpenDoor {
  const domains = files.map(({ text, name }) => readDescriptorLimits(text, name, cycleMs));
  const credentials = grpcCredentials(process.env);
  return (context, host, log) => startRateLimitService(context, { host, port, domains, credentials }, log);
}
