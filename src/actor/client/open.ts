// Owns the client that fires and forgets: every job is sent once, whatever becomes of it. Leaves the course of a job to requesting.ts.
//
//   job ─► send ─► served               succeeded
//               └► anything else        given up
import type { Behaviour } from './port.js';
import { type RequestingState, requesting } from './requesting.js';

export function open(): Behaviour<RequestingState> {
  return requesting({ after: () => undefined });
}
