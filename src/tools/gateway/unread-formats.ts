// Formats of gateways whose files are not read. A line that only they have recognizes them, so that each such file is named.
//
//   limit-count: { count: 100, time_window: 60 }     APISIX files are not read: give the limit with --limit, as in …
import { Failure } from '../../core/schema/failure.js';

export interface UnreadFormat {
  readonly name: string;
  /** Any of them in a line of the text, or in `name: value` of a document. */
  readonly signs: readonly RegExp[];
  /** File names that need no sign. */
  readonly file?: RegExp;
  /** What can be done before the limit is given in words. */
  readonly also?: string;
  /** A limit of the product, as `--limit` takes it. */
  readonly words: string;
}

const formats: readonly UnreadFormat[] = [
  {
    name: 'APISIX',
    signs: [/(?<![\w./-])(?:graphql-)?limit-(?:count|req|conn)["']?(?:\s*[:,]|\s*$)/, /\bkind["']?:\s*["']?Apisix/],
    file: /(?:^|\/)apisix[^/]*\.(?:ya?ml|json)$/i,
    words: 'apisix-limit-count count=100 time_window=60',
  },
  {
    name: 'Azure API Management',
    signs: [
      /<(?:rate-limit|quota)(?:-by-key)?[\s/>]/,
      /<(?:limit-concurrency|(?:llm|azure-openai)-token-limit|include-fragment)[\s/>]/,
    ],
    words: 'azure-apim calls=100 renewal_period=60',
  },
  {
    name: 'Caddy',
    signs: [/^\s*rate_limit\s*(?:[\w@/*]\S*\s*)?\{\s*$/, /\bhandler["']?:\s*["']?rate_limit\b/],
    file: /(?:^|\/)Caddyfile[^/]*$|\.caddy$/i,
    words: 'caddy max_events=100 window=1m',
  },
  {
    name: 'Spring',
    signs: [
      /\bspring\.cloud\.gateway\b|\bdefault-filters\b/,
      /\bRequestRateLimiter\b|\bredis-rate-limiter\b|\bresilience4j\.ratelimiter\b/,
      /(?:^\s*-|\bpredicates:)\s*["'[]*Path=\//,
    ],
    words: 'spring replenishRate=10 burstCapacity=20',
  },
  {
    name: 'API Commons',
    signs: [
      /\btype["']?:\s*["']?RateLimits\b/,
      /\btimeframe["']?:\s*["']?(?:second|minute|hour|day|week|month|year)\b/,
    ],
    words: '100 in 1m',
  },
  {
    name: 'OpenAPI',
    signs: [/(?<![\w-])x-rate-?[Ll]imit(?:s|ing)?["']?:/],
    words: '100 in 1m',
  },
  {
    name: 'Nomad',
    signs: [/^\s*["']traefik\.http\.middlewares\.[^"']*\.(?:ratelimit|inflightreq)\./i],
    words: 'traefik average=100 burst=50',
  },
  {
    name: 'TOML',
    signs: [/^\s*\[\[?(?:http|entryPoints|frontends)[.\]]/, /^\s*http\.(?:middlewares|routers)\./],
    file: /traefik[^/]*\.toml$/i,
    also: 'write the file of Traefik in YAML, or ',
    words: 'traefik average=100 burst=50',
  },
];

const COMMENT = /^\s*(?:#|\/\/|<!--)/;

/** By its first line with a sign. @param line of the first line of the text */
export function unreadIn(text: string, line = 1): { readonly format: UnreadFormat; readonly line: number } | undefined {
  for (const [index, one] of text.split('\n').entries()) {
    const format = COMMENT.test(one) ? undefined : formats.find(({ signs }) => signs.some((sign) => sign.test(one)));
    if (format !== undefined) return { format, line: line + index };
  }
  return undefined;
}

export const unreadNamed = (file: string) => formats.find((one) => one.file?.test(file));

export const unreadFormatOf = (file: string, text: string) => unreadIn(text)?.format ?? unreadNamed(file);

export const whyUnread = (format: UnreadFormat) => `${format.name} files are not read: ${insteadOf(format)}`;

export function notRead(format: UnreadFormat, file?: string): Failure {
  const what = `${format.name} files are not read`;
  return new Failure('invalid_definition', {
    what: `${what}.`,
    why: file && `${file} is one.`,
    fix: `${insteadOf(format).replace(/^./, (first) => first.toUpperCase())}.`,
    faults: [{ path: '', message: what }],
  });
}

const insteadOf = ({ also = '', words }: UnreadFormat) =>
  `${also}give the limit with --limit, or as limiter: of a scenario, as in '${words}'`;
