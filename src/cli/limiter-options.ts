// The options by which a command takes a limiter that follows a rule: a file, a product by its name, a primitive, a stanza.
import type { Argv, Options } from 'yargs';
import { readStanza } from '../limiter/products/pasted.js';
import { products } from '../limiter/products/products.js';
import { readText } from '../schema/text-file.js';
import type { OptionRules } from './command.js';
import { usageFailure } from './ending.js';
import { warn } from './say.js';

/** The parameters of all products, each an option; of a number or a text yargs finds out which it is. */
const parameters: Readonly<Record<string, Options>> = Object.fromEntries(
  Object.values(products).flatMap(({ params }) =>
    Object.entries((params as unknown as { properties: Record<string, { type?: string }> }).properties).map(
      ([name, { type }]) => [
        name,
        { hidden: true, requiresArg: type !== 'boolean', ...(type === 'boolean' ? ({ type } as const) : {}) },
      ],
    ),
  ),
);

const text = (describe: string) => ({ type: 'string', requiresArg: true, describe }) as const;

const sources = {
  rule: text('file with the limiter, in YAML or JSON: { primitive, params }, { like, … } or { threshold, within }'),
  like: text('a limiter of `weir limiters`; its parameters follow as options'),
  primitive: text('a rule, for example gcra; its parameters with --params'),
  params: text('parameters of --primitive as JSON, for example \'{"T_ms":100,"tau_ms":900}\''),
  paste: text('a stanza of nginx or HAProxy, or a whole nginx.conf'),
  location: text('with --paste: which of its limiters, as `weir explain` names them'),
} as const;

/** @param own names of options that are the command's, although a product has a parameter of that name */
export function limiterOptions<T>(yargs: Argv<T>, own: readonly string[] = []) {
  const free = Object.fromEntries(Object.entries(parameters).filter(([name]) => !own.includes(name)));
  return (yargs.options(free) as unknown as Argv<T>).options(sources);
}

/** The ways to name a limiter that follows a rule. */
export const LIMITERS = ['rule', 'like', 'primitive', 'paste'] as const;

/** @param own as of `limiterOptions` */
export function limiterNeeds(own: readonly string[] = []): NonNullable<OptionRules['needs']> {
  const names = Object.keys(parameters).filter((name) => !own.includes(name));
  return { params: ['primitive'], location: ['paste'], ...Object.fromEntries(names.map((name) => [name, ['like']])) };
}

export type LimiterGiven = { readonly [Name in keyof typeof sources]?: string | undefined };

/**
 * The limiter that the options name, as a scenario has it; undefined where they name none.
 * @param own as of `limiterOptions`
 * @throws Failure `wrong_usage` for two limiters, `unreadable_file`, `invalid_yaml`
 */
export async function limiterGiven(given: LimiterGiven, own: readonly string[] = []): Promise<unknown> {
  const { rule, like, primitive, paste, location, params } = given;
  const named = Object.entries({ rule, like, primitive, paste }).filter(([, value]) => value !== undefined);
  if (named.length > 1) {
    throw usageFailure(
      `Two limiters are named: ${named.map(([name]) => `--${name}`).join(' and ')}.`,
      'Leave one out.',
    );
  }
  if (like !== undefined) return { like, ...parametersIn(given, own) };
  if (paste !== undefined) {
    for (const note of readStanza(paste).notes) warn(`${note}\n`);
    return { paste, ...(location !== undefined && { location }) };
  }
  if (primitive !== undefined) return { primitive, params: paramsIn(params) };
  if (rule === undefined) return undefined;
  const { readDocument } = await import('../scenario/document.js');
  const fix = 'Give the path of a file in YAML or JSON.';
  return readDocument(readText(rule, { what: `The rule ${rule}`, fix, isGiven: true }), rule).value;
}

/** The length of its window as it is written; undefined for a limiter without one. */
export function windowOf(limiter: unknown): string | number | undefined {
  return (limiter as { readonly within?: string | number } | undefined)?.within;
}

/** What was given of the limiter, to repeat a command. */
export function limiterFlags(given: LimiterGiven, own: readonly string[] = []): Record<string, string | undefined> {
  const { rule, like, primitive, params, paste, location } = given;
  const parameters = like === undefined ? {} : (parametersIn(given, own) as Record<string, string>);
  return { rule, like, primitive, params, paste, location, ...parameters };
}

/** The parameters of a product among the options, as they were given. */
function parametersIn(given: object, own: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => Object.hasOwn(parameters, name) && !own.includes(name)),
  );
}

function paramsIn(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? '{}');
  } catch (error) {
    throw usageFailure(
      `--params is not JSON: ${(error as Error).message}.`,
      'For example \'{"T_ms":100,"tau_ms":0}\'.',
    );
  }
}
