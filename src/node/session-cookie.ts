// The cookie of a session. By HTTPS it has the prefix by which browsers refuse it from any other host, and from this one without `Secure`; by plain
// HTTP, which is for this machine, browsers take no such name.
import { fastifyCookie } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

const NAME = 'weir_session';

function nameFor({ protocol }: FastifyRequest): string {
  return protocol === 'https' ? `__Host-${NAME}` : NAME;
}

export function sessionTokenOf(request: FastifyRequest): string | undefined {
  const { cookie } = request.raw.headers;
  return cookie === undefined ? undefined : fastifyCookie.parse(cookie)[nameFor(request)];
}

/** @param maxAge seconds; 0 for a session that is over */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  maxAge: number,
): FastifyReply {
  const cookie = fastifyCookie.serialize(nameFor(request), value, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: request.protocol === 'https',
    maxAge,
  });
  return reply.header('set-cookie', cookie);
}
