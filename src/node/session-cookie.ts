// The session cookie. Over HTTPS its prefix binds it to this host and to `Secure`; over plain HTTP browsers do not accept that name.
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

/** @param maxAge seconds; 0 clears it */
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
