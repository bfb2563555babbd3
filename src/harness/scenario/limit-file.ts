// A limiter as text, or in a file named by it: a configuration of nginx or HAProxy, a limiter or scenario in YAML or JSON, a definition,
// or an XState machine in JSON.
import { limitFiles } from '../../core/limiter/products/limit-files.js';
import { completeLimit } from '../../core/limiter/products/limit-text.js';
import { readDocument } from '../../core/schema/document.js';
import { Failure } from '../../core/schema/failure.js';

type Limiter = Readonly<Record<string, unknown>>;

const FILE =
  /^(?:\.{0,2}\/|[A-Za-z]:[\\/]).*|.*\.(?:conf|cfg|ya?ml|json|tf|toml|xml|properties)(?:\.(?:erb|j2|jinja2?|ejs|hbs|mustache|tmpl|tpl|gotmpl|template))?$|.*\bCaddyfile$/;

/** Fields of a limiter, scenario or definition; a document without any is a gateway file. */
const OWN =
  /^(?:threshold|within|near_limit|shadow|primitive|like|paste|and|definition|limiter|arrivals|question|states)$/;

/** Reads the limiter of a gateway file; `location` selects one of several. */
type GatewayReader = (name: string, text: string, location: string | undefined) => Limiter;

/**
 * The file and location in a text such as `nginx.conf at location /api`; undefined if the text is itself a limiter. A file has a
 * configuration's extension or begins with `./`, so no file can take the place of a name.
 */
export function fileIn(text: string): { readonly file: string; readonly location: string | undefined } | undefined {
  const [, before, location] = /^(\S.*?)\s+at\s+(\S.*)$/.exec(text.trim()) ?? [];
  const file = before ?? text.trim();
  return !file.includes('\n') && FILE.test(file) ? { file, location } : undefined;
}

/**
 * @param gateway reads files of other gateways than nginx and HAProxy; without it they are refused
 * @throws Failure `invalid_definition`, `invalid_yaml`, and those of `read`
 */
export function limiterIn(text: string, read: (file: string) => string, gateway?: GatewayReader): Limiter {
  const named = fileIn(text);
  if (named === undefined) return completeLimit(text);
  const { file, location } = named;
  const content = read(file);
  if (gateway !== undefined && !isStanzas(file, content) && isGatewayFile(file, content))
    return gateway(file, content, location);
  if (isStanzas(file, content)) return location === undefined ? { paste: content } : { paste: content, location };
  const refused = (why: string) =>
    new Failure('invalid_definition', {
      what: `${file} is no limiter.`,
      why,
      fix: 'It holds for example { like: nginx, rate: 10r/s }, a scenario with a limiter, or a definition.',
      faults: [{ path: '', message: `${file} is no limiter: ${why}` }],
    });
  const refusal = isOwn(file, content) ? undefined : limitFiles().unread(file, content);
  if (refusal !== undefined) throw refusal;
  if (location !== undefined)
    throw refused(`Only a configuration has several, of which "at ${location}" would name one.`);
  const { value } = readDocument(content, file);
  if (typeof value === 'string') return completeLimit(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('It has no fields.');
  if ('states' in value) return { definition: value };
  const { limiter = 'arrivals' in value ? {} : value } = value as { readonly limiter?: unknown };
  const beside = (other: string) =>
    read(/^\//.test(other) ? other : `${file.slice(0, file.lastIndexOf('/') + 1)}${other}`);
  if (typeof limiter === 'string') return limiterIn(limiter, beside, gateway);
  const { definition } = (limiter ?? {}) as { readonly definition?: unknown };
  return typeof definition === 'string'
    ? { definition: readDocument(beside(definition), definition).value }
    : (limiter as Limiter);
}

/** Whether a file has the limits of a gateway. Other files have one limiter. */
export function isGatewayFile(file: string, content: string): boolean {
  return isStanzas(file, content) || !isOwn(file, content);
}

function isStanzas(file: string, content: string): boolean {
  if (/\.(?:ya?ml|json|tf|toml|xml|properties|caddy)$|Caddyfile$/.test(file)) return false;
  return /\.(?:conf|cfg)$/.test(file) || !/^\s*[{[]|^\s*[\w-]+\s*:/m.test(content);
}

function isOwn(file: string, content: string): boolean {
  if (/\.(?:tf|toml|xml|properties|caddy)$|Caddyfile$/.test(file)) return false;
  try {
    const { value } = readDocument(content, file);
    return typeof value !== 'object' || value === null || Object.keys(value).some((name) => OWN.test(name));
  } catch {
    return false;
  }
}
