// The log of a live run that the tests write by hand.
import { RequestLog, type RequestLogOptions } from '../../../src/harness/live/request-log.js';
import type { RequestEnd, RequestFault } from '../../../src/harness/live/target.js';

export function emptyLog(options: Partial<RequestLogOptions> = {}): RequestLog {
  return new RequestLog({ cycleMs: 777, phases: {}, firstCycle: 0, slackMs: 0, plansByCycle: true, ...options });
}

export const fault = (kind: RequestFault['kind']): RequestFault => ({ type: 'fault', kind, words: 'So.' });

/** Sent at the start of its cycle. */
export function log(into: RequestLog, cycle: number, end: RequestEnd, contract = 0): void {
  const sentMs = cycle * into.options.cycleMs;
  const request = { contract, cost: undefined, intendedMs: sentMs, sentMs };
  into.send(request);
  into.end(request, sentMs + 1, end);
}
