// `--limit`: a limiter as a text or in a file, the same for every command.
import { statSync } from 'node:fs';
import type { RuleDefinition } from '../core/limiter/rule/rule-definition.js';
import { Failure } from '../core/schema/failure.js';
import { readText } from '../core/schema/text-file.js';
import { type GatewayLimits, leftOut } from '../tools/gateway/found.js';
import { notRead } from '../tools/gateway/unread-formats.js';
import { text } from './command.js';
import { usageFailure } from './exit-codes.js';
import { warn } from './say.js';

export type GivenLimiter = Readonly<Record<string, unknown>>;

export const LIMIT_WORDS = "'100 in 60s', 'nginx 10r/s burst=5', 'gcra 10/s burst=20', a file, none: weir help rules";

export const limit = text(`the limiter: ${LIMIT_WORDS}`);

/** @throws Failure `invalid_definition`, `unreadable_file`, `invalid_yaml` */
export async function limiterGiven(given: string): Promise<GivenLimiter> {
  const { fileIn, limiterIn } = await import('../harness/scenario/limit-file.js');
  const { checkLimiter, followsRule } = await import('../core/limiter/products/limiter-spec.js');
  if (fileIn(given) === undefined) {
    const limiter = limiterIn(given, read);
    return followsRule(limiter) ? limiter : checkLimiter(limiter);
  }
  const { limitersIn } = await import('../tools/gateway/limits-in.js');
  const limiter = limiterIn(given, read, (name, text, location) => limiterAt(name, limitersIn(text, name), location));
  return 'definition' in limiter || 'paste' in limiter ? limiter : checkLimiter(limiter);
}

const read = (file: string) =>
  readText(file, {
    what: `The limiter ${file}`,
    fix: 'Give the path of a configuration, a limiter, a scenario or a definition.',
    isGiven: true,
  });

/**
 * The limits of a file or folder of a gateway, with the files that it includes; undefined for any other limiter.
 * @throws Failure `invalid_definition` if it has none, or not at the location that is named
 */
export async function gatewayLimitsGiven(given: string): Promise<GatewayLimits | undefined> {
  const { fileIn, isGatewayFile } = await import('../harness/scenario/limit-file.js');
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const named = fileIn(given) ?? (isFolder(given) ? { file: given, location: undefined } : undefined);
  if (named === undefined) return undefined;
  const { file, location } = named;
  if (!isFolder(file) && !isGatewayFile(file, read(file))) return undefined;
  const [{ filesIn }, { limitersInFiles }, { fittingLimits }] = await Promise.all([
    import('./limit-files.js'),
    import('../tools/gateway/limits-in.js'),
    import('../tools/gateway/limit-changes.js'),
  ]);
  const gateway = fittingLimits(limitersInFiles(await filesIn(file)));
  const { limiters, places, notUnderstood, unread, appliesTo } = gateway;
  if (limiters.length === 0 && unread[0] !== undefined) throw notRead(unread[0].format, file);
  const here = limiters.filter(({ where }) => location === undefined || where === location);
  if (here.length > 0)
    return {
      ...gateway,
      limiters: here,
      appliesTo: (...asked) => appliesTo(...asked).filter((one) => here.includes(one)),
    };
  for (const { file: name, line, what } of notUnderstood) warn(`weir: ${name}:${line}: ${what}.\n`);
  throw noSuchPlace(file, limiters.length === 0 ? [] : places);
}

/** @throws Failure `invalid_definition` if the file has no limiter, or several and none is named */
function limiterAt(
  file: string,
  { places, notUnderstood, unread: [unread] }: GatewayLimits,
  location: string | undefined,
): GivenLimiter {
  const all = places.flatMap(({ where, limiters }) => {
    const limits = limiters.flatMap(({ limit, isDryRun }) => (limit === undefined || isDryRun ? [] : [limit]));
    return limits.length === 0 ? [] : [{ where, limits }];
  });
  if (all.length === 0 && unread !== undefined) throw notRead(unread.format, file);
  const isAsked = ({ where }: { readonly where: string }) => location === undefined || where === location;
  for (const { line, what } of [...notUnderstood, ...leftOut({ places: places.filter(isAsked) })])
    warn(`weir: ${file}, line ${line}: ${what}.\n`);
  const asked = all.filter(isAsked);
  const [only, other] = asked;
  if (only !== undefined && other === undefined)
    return only.limits.length === 1 ? only.limits[0]! : { and: only.limits };
  throw noSuchPlace(file, all);
}

function noSuchPlace(file: string, places: readonly { readonly where: string }[]): Failure {
  const wheres = places.map(({ where }) => where || 'everywhere');
  return new Failure('invalid_definition', {
    what: places.length === 0 ? `No limit is read from ${file}.` : `${file} has ${places.length} places with limits.`,
    why: places.length === 0 ? undefined : `They are: ${wheres.join('; ')}.`,
    fix: places.length === 0 ? '`weir help rules` says what a file may hold.' : `Name one: '${file} at ${wheres[0]}'.`,
  });
}

export async function limiterNotesOf(limiter: GivenLimiter, cycleMs: number): Promise<string[]> {
  const [{ limitSentence }, { limiterNotes }] = await Promise.all([
    import('../core/limiter/products/limit-sentence.js'),
    import('../core/limiter/products/limiter-spec.js'),
  ]);
  return [`Limiter ${limitSentence(limiter, cycleMs)}.`, ...limiterNotes(limiter)];
}

/** @throws Failure `wrong_usage` for a definition with its own states */
export async function ruleGiven(limiter: GivenLimiter, cycleMs: number): Promise<RuleDefinition> {
  const [{ definitionOf }, { limiterParameters }, { planContract }] = await Promise.all([
    import('../core/limiter/products/products.js'),
    import('../core/limiter/rate-limiter.js'),
    import('../core/limiter/validate.js'),
  ]);
  if (!('definition' in limiter)) return definitionOf(limiter, cycleMs);
  const { definition } = planContract(limiter['definition']);
  const window = definition.rule ?? limiterParameters(definition);
  if (window !== undefined) return definitionOf(window, cycleMs);
  throw usageFailure(
    `${definition.name} is a definition with states of its own, and follows no rule.`,
    'Give it alone to `weir replay --limit`, or to a scenario.',
  );
}
