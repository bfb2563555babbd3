// Detects the format of gateway files by content and reads their limits; anything unknown becomes a note with its line.
//
//   limitersIn(text, 'nginx.conf')          { limiters, places, notUnderstood, notApplied, appliesTo }
//   limitersInFiles([zones, server])        files of one gateway: zones may be in one, their uses in another

import { at, documentsOf, isGiven, type TreeEntry, textAt, walk } from './document.js';
import { readEnvoy } from './envoy.js';
import { readPolicies } from './envoy-gateway.js';
import { FoundLimits, type GatewayLimits, limitsOf, type Source } from './found.js';
import { hclOf } from './hcl.js';
import { readKong } from './kong.js';
import { readIngress } from './kubernetes.js';
import { readNginxIngress } from './nginx-ingress.js';
import { isTemplate, looksLikeDocument, looksLikeLimits, readStanzas, refuseWords } from './stanzas.js';
import { readTerraform } from './terraform.js';
import { readTraefik } from './traefik.js';
import { unreadIn, unreadNamed } from './unread-formats.js';

export function limitersIn(text: string, name: string): GatewayLimits {
  return limitersInFiles([{ name, text }]);
}

const trees = [readEnvoy, readPolicies, readIngress, readNginxIngress, readKong, readTraefik];

/** @param replicas instances of the gateway */
export function limitersInFiles(files: readonly Source[], replicas?: number): GatewayLimits {
  const found = new FoundLimits(files, replicas);
  const sources = files.flatMap(pieces);
  const whole = sources.filter((source) => /\.(?:md|tf|ya?ml|json)$/.test(source.name) || !isTemplate(source, found));
  const documents = whole.filter(isDocument).flatMap((source) => documentsIn(source, found).flatMap(objectsOf));
  const plain = whole.filter((source) => !isDocument(source));
  const blocks = plain.filter(isHcl).flatMap((source) => hclIn(source, found));
  const inner = [...documents, ...blocks]
    .flatMap((root) => [...textsIn(root)])
    .filter((source) => !isTemplate(source, found));
  const innerBlocks = inner.filter(({ text }) => isHclText(text));
  const texts = inner.filter((source) => !innerBlocks.includes(source));
  const roots = [
    ...documents,
    ...texts.filter(({ text }) => looksLikeDocument(text)).flatMap((source) => documentsIn(source, found)),
  ];
  for (const read of trees) read(roots, found);
  readTerraform([...roots, ...blocks, ...innerBlocks.flatMap((source) => hclIn(source, found))], found);
  readStanzas(
    [...plain.filter((source) => !isHcl(source)), ...texts.filter(({ text }) => !looksLikeDocument(text))],
    found,
  );
  refuseUnread([...roots, ...blocks], found);
  nameUnread([...roots, ...blocks], found);
  return limitsOf(found);
}

const NAMED =
  /^(?:rate[-_]?limit(?:s|ers?|Policy|Basic|Configs)?|RateBasedStatement|(?:[\w.-]+\/)?limit-(?:rps|rpm|connections)|[\w.-]+\/limit-(?:count|req|conn)|rate-limiting|requests_per_unit|token_bucket|(?:qos\/|.*krakend-)ratelimit\/[\w/]+|Throttling(?:Rate|Burst)Limit|global_rate_limit|quota_max|connectionLimit)$/i;

/** A list of Kubernetes has its objects in items. */
function objectsOf(root: TreeEntry): readonly TreeEntry[] {
  const items = at(root, 'items')?.items ?? [];
  return /List$/.test(textAt(root, 'kind') ?? '') && items.length > 0 ? items : [root];
}

/** Notes what is named like a limit if nothing is said of it or of what it belongs to. */
function refuseUnread(roots: readonly TreeEntry[], found: FoundLimits): void {
  const defined = found.limiters.flatMap((one) => one.defined ?? []);
  const noted = [...found.limiters, ...defined, ...found.notApplied, ...found.notUnderstood];
  const lines = new Set(noted.map(({ file, line }) => `${line} ${file}`));
  const said = new Set<TreeEntry>();
  const mark = (entry: TreeEntry): boolean => {
    const inner = [...entry.fields.values(), ...entry.items].map(mark);
    const isSaid = inner.includes(true) || lines.has(`${entry.line} ${entry.file}`);
    if (isSaid) said.add(entry);
    return isSaid;
  };
  for (const root of roots) {
    if (found.read.has(root.file) || textAt(root, 'kind') === 'GatewayExtension') continue;
    mark(root);
    const isApi = (textAt(root, 'openapi') ?? textAt(root, 'swagger')) !== undefined;
    const visit = (entry: TreeEntry, names: readonly string[], above: readonly TreeEntry[]): void => {
      const last = names.at(-1) ?? '';
      const isSending =
        /^rate_?limits$/i.test(last) && said.has(root) && entry.items.some((one) => one.fields.has('actions'));
      if (isSending || REFERS.test(last) || (isApi && names.length > 0 && !names[0]!.startsWith('x-'))) return;
      const isQuota = /^quota$/i.test(last) && (isApi || entry.fields.has('limit') || entry.fields.has('Limit'));
      const isNamed = NAMED.test(last) || isQuota;
      const isValue = !names.includes('metadata') && PLUGIN.test(String(entry.value));
      const trail = [...above.slice(-1), entry];
      if ((isNamed || isValue) && isGiven(entry) && ![...above, entry].some((one) => said.has(one))) {
        found.refuse(entry, `${isNamed ? last : String(entry.value)} is in no form that is read`);
        return;
      }
      for (const [name, inner] of entry.fields) visit(inner, [...names, name], trail);
      for (const inner of entry.items) visit(inner, names, trail);
    };
    const before = found.notUnderstood.length;
    visit(root, [], []);
    const kind = textAt(root, 'kind') ?? '';
    if (/RateLimit/.test(kind) && !said.has(root) && found.notUnderstood.length === before)
      found.refuse(at(root, 'kind')!, `${kind} is in no form that is read`);
  }
}

/** Names files in formats that are not read: by what their documents hold, or by their names. */
function nameUnread(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots)
    for (const [{ file, line, textLine, value, expression = '' }, names] of walk(root)) {
      const text = String(value ?? expression);
      const unread = text.includes('\n') ? unreadIn(text, textLine) : unreadIn(`${names.at(-1) ?? ''}: ${text}`, line);
      if (unread !== undefined) found.notRead({ file, line: unread.line }, unread.format);
    }
  for (const { name } of found.files) {
    const format = unreadNamed(name);
    if (format !== undefined) found.notRead({ file: name, line: 1 }, format);
  }
}

/** The name of a plugin of Kong, as a value. */
const PLUGIN = /^rate-limiting$/;

/** Names of objects, which may be called after a limit. */
const REFERS = /^(?:extensionRef|middlewares|parentRefs|targetRefs?|backendRefs)$/;

/** Fenced blocks of a Markdown page, as files with the same line numbers. */
function pieces(source: Source): Source[] {
  if (!/\.(?:md|markdown)$/i.test(source.name)) return [source];
  let line = 1;
  return source.text.split(/^```.*$/m).flatMap((text, i) => {
    const above = '\n'.repeat(line - 1);
    line += text.split('\n').length - 1;
    return i % 2 === 0 ? [] : [{ name: source.name, text: above + text }];
  });
}

function isDocument({ name, text }: Source): boolean {
  if (/\.(?:ya?ml|json)$/i.test(name)) return true;
  if (/\.(?:conf|cfg|tf|rb|erb|j2|xml|toml|properties)$|Caddyfile$/i.test(name)) return false;
  return !/\.md$/i.test(name) && looksLikeDocument(text);
}

/** Words that a file with limits has. */
const MAY_LIMIT = /rate.{0,2}limit|limit[-_ ]|throttl|quota|token_?bucket|in_?flight|stick-table|descriptors/i;

function documentsIn(source: Source, found: FoundLimits): TreeEntry[] {
  let isRefused = false;
  const refuse = (line: number, what: string) => {
    isRefused = true;
    if (MAY_LIMIT.test(source.text)) found.refuse({ file: source.name, line }, what);
  };
  const roots = documentsOf(source, refuse);
  if (isRefused || roots.some(({ value }) => value !== undefined)) refuseWords(source, 'the file was not read', found);
  return roots;
}

const isHclText = (text: string) => /^\s*(?:resource|module)\s+"[\w-]+"/m.test(text);
const isHcl = ({ name, text }: Source) => /\.tf$/.test(name) || isHclText(text);

const hclIn = (source: Source, found: FoundLimits) =>
  [found.reading(source, 'it is not valid HCL', hclOf) ?? []].flat();

function* textsIn(root: TreeEntry): Generator<Source> {
  for (const [entry, names] of walk(root)) {
    const { value = entry.expression, textLine, file } = entry;
    if (typeof value !== 'string' || !value.includes('\n')) continue;
    const text = '\n'.repeat(textLine - 1) + value;
    if (!/-snippet$/.test(names.at(-1) ?? '') && looksLikeLimits(value)) yield { name: file, text };
  }
}
