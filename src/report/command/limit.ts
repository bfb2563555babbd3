// `--limit`: a limiter as a text or in a file, the same for every command.
import { statSync } from 'node:fs';
import { limitFiles } from '../../core/limiter/products/limit-files.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { readText } from '../../core/schema/text-file.js';
import { text } from './command.js';
import { usageFailure } from './exit-codes.js';

export type GivenLimiter = Readonly<Record<string, unknown>>;

export const LIMIT_WORDS = "'100 in 60s', 'nginx 10r/s burst=5', 'gcra 10/s burst=20', a file, none: weir help rules";

export const limit = text(`the limiter: ${LIMIT_WORDS}`);

/** @throws Failure `invalid_definition`, `unreadable_file`, `invalid_yaml` */
export async function limiterGiven(given: string): Promise<GivenLimiter> {
  const { fileIn, limiterIn } = await import('../../harness/scenario/limit-file.js');
  const { checkLimiter, followsRule } = await import('../../core/limiter/products/limiter-spec.js');
  if (fileIn(given) === undefined) {
    const limiter = limiterIn(given, readLimiter);
    return followsRule(limiter) ? limiter : checkLimiter(limiter);
  }
  const limiter = limiterIn(given, readLimiter, await limitFiles().placeReader());
  return 'definition' in limiter || 'paste' in limiter ? limiter : checkLimiter(limiter);
}

/** The file or folder of a gateway that `--limit` names, and the place in it; undefined for any other limiter. */
export async function gatewayFilesGiven(given: string) {
  const { fileIn, isGatewayFile } = await import('../../harness/scenario/limit-file.js');
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const named = fileIn(given) ?? (isFolder(given) ? { file: given, location: undefined } : undefined);
  if (named === undefined) return undefined;
  return isFolder(named.file) || isGatewayFile(named.file, readLimiter(named.file)) ? named : undefined;
}

const readLimiter = (file: string): string =>
  readText(file, {
    what: `The limiter ${file}`,
    fix: 'Give the path of a configuration, a limiter, a scenario or a definition.',
    isGiven: true,
  });

export async function limiterNotesOf(limiter: GivenLimiter, cycleMs: number): Promise<string[]> {
  const [{ limitSentence }, { limiterNotes }] = await Promise.all([
    import('../../core/limiter/products/limit-sentence.js'),
    import('../../core/limiter/products/limiter-spec.js'),
  ]);
  return [`Limiter ${limitSentence(limiter, cycleMs)}.`, ...limiterNotes(limiter)];
}

/** @throws Failure `wrong_usage` for a definition with its own states */
export async function ruleGiven(limiter: GivenLimiter, cycleMs: number): Promise<RuleDefinition> {
  const [{ definitionOf }, { limiterParameters }, { planContract }] = await Promise.all([
    import('../../core/limiter/products/products.js'),
    import('../../core/limiter/rate-limiter.js'),
    import('../../core/limiter/validate.js'),
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
