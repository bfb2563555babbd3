// What a gate reads from the headers of a request (in node/gateway-headers.ts): the key, the cost, and the gateway's credential.
import type { Static } from 'typebox';
import { exact, text, whole } from '../schema/fields.js';
import { Type } from '../schema/json-schema.js';

const HeaderName = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: 'Name of a header, in any case, for example X-Api-Key.',
});

export const LONGEST_KEY = 256;

const absent = text(1, LONGEST_KEY, 'The key of requests that have none; without it they are answered with 403.');

const KeySource = Type.Union(
  [
    exact('The value of a header, sent once and without a comma: more than one value is answered with 403.', {
      header: HeaderName,
      'absent?': absent,
    }),
    exact('The address of the client; in IPv6 its network of 64 bits.', {
      forwarded: exact('A list of addresses; X-Forwarded-For if no header is named.', {
        hops: whole(1, 16, 'Trusted proxies, the gateway included: each adds an address at the right end.'),
        'header?': HeaderName,
      }),
      'absent?': absent,
    }),
    exact(
      'The path of the original request, without its query, in one spelling: //api, /%61pi and /x/../api are /api.',
      {
        uri: exact('For example X-Original-URI or X-Forwarded-Uri.', {
          header: HeaderName,
          'segments?': whole(1, 16, 'Parts of the path that count; all when absent.'),
        }),
        'absent?': absent,
      },
    ),
  ],
  { description: 'Whose request it is, for a keyed contract; ?key= has precedence.' },
);

export const GatewayDefinition = exact(
  {
    minProperties: 1,
    description:
      'What the gate takes from headers. Name those that the gateway sets itself, not ones that clients can send.',
  },
  {
    'key?': KeySource,
    'cost?': exact('How many requests it counts as, from 1; 1 without the header. ?n= has precedence.', {
      header: HeaderName,
      'max?': whole(1, 1_000, 'The most that it may say; 100 when absent.'),
    }),
    'credential?': exact('A header that holds a key of the owner, beside Authorization.', { header: HeaderName }),
  },
);
export type GatewayDefinition = Static<typeof GatewayDefinition>;
