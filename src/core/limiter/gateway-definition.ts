// What a gate reads from the headers of a request (in node/gateway-headers.ts): the key, the cost, and the gateway's credential.
import type { Static } from 'typebox';
import { strict } from '../schema/fields.js';
import { Type } from '../schema/json-schema.js';

const HeaderName = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: 'Name of a header, in any case, for example X-Api-Key.',
});

export const LONGEST_KEY = 256;

const absent = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: LONGEST_KEY,
    description: 'The key of requests that have none; without it they are answered with 403.',
  }),
);

const KeySource = Type.Union(
  [
    Type.Object(
      { header: HeaderName, absent },
      {
        ...strict,
        description: 'The value of a header, sent once and without a comma: more than one value is answered with 403.',
      },
    ),
    Type.Object(
      {
        forwarded: Type.Object(
          {
            hops: Type.Integer({
              minimum: 1,
              maximum: 16,
              description: 'Trusted proxies, the gateway included: each adds an address at the right end.',
            }),
            header: Type.Optional(HeaderName),
          },
          { ...strict, description: 'A list of addresses; X-Forwarded-For if no header is named.' },
        ),
        absent,
      },
      { ...strict, description: 'The address of the client; in IPv6 its network of 64 bits.' },
    ),
    Type.Object(
      {
        uri: Type.Object(
          {
            header: HeaderName,
            segments: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 16, description: 'Parts of the path that count; all when absent.' }),
            ),
          },
          { ...strict, description: 'For example X-Original-URI or X-Forwarded-Uri.' },
        ),
        absent,
      },
      {
        ...strict,
        description:
          'The path of the original request, without its query, in one spelling: //api, /%61pi and /x/../api are /api.',
      },
    ),
  ],
  { description: 'Whose request it is, for a keyed contract; ?key= has precedence.' },
);

export const GatewayDefinition = Type.Object(
  {
    key: Type.Optional(KeySource),
    cost: Type.Optional(
      Type.Object(
        {
          header: HeaderName,
          max: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1_000, description: 'The most that it may say; 100 when absent.' }),
          ),
        },
        { ...strict, description: 'How many requests it counts as, from 1; 1 without the header. ?n= has precedence.' },
      ),
    ),
    credential: Type.Optional(
      Type.Object(
        { header: HeaderName },
        { ...strict, description: 'A header that holds a key of the owner, beside Authorization.' },
      ),
    ),
  },
  {
    ...strict,
    minProperties: 1,
    description:
      'What the gate takes from headers. Name those that the gateway sets itself, not ones that clients can send.',
  },
);
export type GatewayDefinition = Static<typeof GatewayDefinition>;
