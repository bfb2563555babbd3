// Owns putting the routes of the registry onto Fastify: who is asking first, then the body, then the handler, then the count of
// the answer. Leaves each of them to its file.
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Shapes } from '../api/endpoint.js';
import { Nothing } from '../api/shapes.js';
import type { Parts } from './node-context.js';
import { type Asked, changesState, type Route } from './route.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The declaration that a mounted route was made from. */
    route?: Route;
  }
}

export function mount(app: FastifyInstance, parts: Parts, route: Route): void {
  const { method, path, auth, isHot = false, hasHead = true, takesStream = false } = route;
  const answers = parts.counts.answersOf(route);
  const config: FastifyContextConfig = { route };
  const count = (reply: FastifyReply) => {
    answers[reply.statusCode]! += 1;
  };
  app.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    config,
    schema: schemaOf(route),
    exposeHeadRoute: method === 'GET' && hasHead,
    ...(auth === 'public' ? {} : { onRequest: identify(parts, route) }),
    // The others are written by JSON.stringify: what they answer is seldom asked for, and looks as it was made.
    ...(isHot ? {} : { serializerCompiler: () => JSON.stringify }),
    ...(takesStream ? { bodyLimit: parts.limits.eventsBytes } : {}),
    handler(request, reply) {
      const answer = route.handle(parts, request as Asked<Shapes>, reply);
      if (!(answer instanceof Promise)) {
        count(reply);
        return answer;
      }
      return answer.then((body) => {
        count(reply);
        return body;
      });
    },
  });
}

/** Finds out who is asking before the body is read. */
function identify({ access, clock }: Parts, route: Route) {
  const changes = changesState(route);
  const { auth } = route;
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      request.caller = access.callerOf(request, auth, changes, clock.now());
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

function schemaOf({ method, path, shapes = {}, answers, checksBody, takesStream, isHot }: Route): FastifySchema {
  const { params, querystring, body } = shapes;
  // Load balancers and browsers may add what they like to a page; the API says when it does not know a parameter.
  const query = querystring ?? (path.startsWith('/api/') ? Nothing : undefined);
  const isChecked = method !== 'GET' && !checksBody && !takesStream;
  const response = Object.fromEntries(
    Object.entries(answers).flatMap(([status, { schema }]) => (schema === undefined ? [] : [[status, schema]])),
  );
  return {
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(isChecked ? { body: body ?? Nothing } : {}),
    ...(isHot ? { response } : {}),
  };
}
