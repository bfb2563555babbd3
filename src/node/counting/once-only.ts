// The idempotency key of a request (draft-ietf-httpapi-idempotency-key-header), and the replayed answer.
import type { FastifyReply } from 'fastify';
import { spanCycles } from '../../core/limiter/plan.js';
import { canonicalJson, sha256Hex } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import type { Contract } from '../host/contract.js';
import { JSON_TYPE } from '../problem.js';

export interface OnceOnly {
  readonly key: string;
  readonly request: string;
}

export class Replayed {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  sentBy(reply: Pick<FastifyReply, 'header'>): Buffer {
    reply.header('idempotent-replayed', 'true').header('content-type', JSON_TYPE);
    return Buffer.from(this.#text);
  }
}

/** @param header a string of the draft, quotes optional @param content path and body @throws Failure `invalid_input` */
export function onceOnly(header: unknown, content: readonly unknown[]): OnceOnly | undefined {
  if (header === undefined) return undefined;
  const key =
    typeof header === 'string'
      ? /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,128})"|([\x21\x23-\x7e]{1,128}))$/.exec(header)
      : null;
  if (key === null)
    throw new Failure('invalid_input', {
      what: 'Nothing was counted.',
      why: 'The header Idempotency-Key is no string of 1 to 128 printable ASCII characters.',
      fix: 'Send for example Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324".',
      faults: [{ path: '/Idempotency-Key', message: 'must be 1 to 128 printable ASCII characters in quotes' }],
    });
  const request = sha256Hex(content.map((part) => (typeof part === 'string' ? part : canonicalJson(part))).join('\n'));
  return { key: sha256Hex(key[1] ?? key[2]!).slice(0, 32), request: request.slice(0, 32) };
}

/** Cycles after which a repetition could not change any decision. */
export function reachOf(contracts: Iterable<Contract>, cycleMs: number): number {
  return [...contracts].reduce((most, { plan }) => Math.max(most, spanCycles(plan, cycleMs)), 1);
}

export function reused(): Failure {
  return new Failure('idempotency_key_reused', {
    what: 'Nothing was counted.',
    why: 'The same Idempotency-Key came with another request before.',
    fix: 'Make a new key for each request, and repeat a request as it was.',
  });
}
