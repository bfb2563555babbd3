// Owns how a failure is told over HTTP: one shape (RFC 9457), one place, for ours, for Fastify's and for what nobody expected.
// Leaves the words to whoever fails and the status of each code to the catalogue in schema/failure.ts.
import type { FastifyReply } from 'fastify';
import type { Problem } from '../api/views.js';
import { Failure } from '../schema/failure.js';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function problemOf(failure: Failure): Problem {
  const { code, title, status, message: detail, faults } = failure;
  const problem = { ok: false, type: `urn:weir:problem:${code}`, title, status, detail, code } as const;
  return faults.length === 0 ? problem : { ...problem, errors: [...faults] };
}

/** Answers with a problem. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="weir"');
  return reply
    .code(problem.status)
    .header('content-type', PROBLEM_TYPE)
    .header('cache-control', 'no-store')
    .send(JSON.stringify(problem));
}

/** The failure behind anything that was thrown; undefined for what nobody expected. */
export function failureFrom(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new Failure('unsupported_media_type', {
        what: 'The body was not read.',
        why: 'Its content type is not one that this route takes, or there is none.',
        fix: 'Send JSON with the header `Content-Type: application/json`.',
      });
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Failure('body_too_large', {
        what: 'The body was not read to its end.',
        why: 'It has more bytes than this route takes.',
        fix: 'Send less at once; many events go to POST …/events, line by line.',
      });
    default:
      // Whatever else Fastify or Node lay at the door of the client, such as a body shorter than announced.
      return statusCode >= 400 && statusCode < 500
        ? new Failure('malformed_request', {
            what: 'The request cannot be read.',
            why: `${(error as Error).message.replace(/\.$/, '')}.`,
            cause: error,
          })
        : undefined;
  }
}

export function noSuchRoute(why: string): Failure {
  return new Failure('route_not_found', {
    what: 'Nothing is served there.',
    why,
    fix: 'GET /api/endpoints lists every route.',
  });
}

export function internalError(): Failure {
  return new Failure('internal_error', {
    what: 'The node could not answer.',
    why: 'It met a mistake of its own, which is in its log.',
    fix: 'Try again; if it stays, tell who runs the node when it happened.',
  });
}
