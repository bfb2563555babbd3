// `weir decide`: a limiter as a filter. A request a line comes in as JSON, its decision goes out as a line, in order.
//
//   {"t_ms": 1699999200000, "n": 1, "key": "a", "hold_ms": 0}
//     -> {"admitted": true, "delay_ms": 0, "retry_after_ms": 0, "remaining": 9, "state": "allowing"}
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Argv, Options } from 'yargs';
import { definitionOf, products } from '../limiter/products/products.js';
import { Failure } from '../schema/failure.js';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';

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

const ownOptions = (yargs: Argv) =>
  yargs
    .option('rule', {
      type: 'string',
      requiresArg: true,
      describe: 'file with the limiter, in YAML or JSON: { primitive, params }, { like, … } or { threshold, within }',
    })
    .option('like', {
      type: 'string',
      requiresArg: true,
      describe: 'a limiter of `weir limiters`; its parameters follow as options',
    })
    .option('made', {
      type: 'number',
      requiresArg: true,
      describe: 'when the limiter was made, in ms (default: the first request)',
    })
    .option('cycle-ms', {
      type: 'number',
      requiresArg: true,
      default: 777,
      describe: 'length of a cycle, for threshold and within',
    })
    .example('$0 decide --rule rule.yaml < requests.ndjson', 'a decision a line')
    .example('$0 decide --like nginx --rate 10r/s --burst 5 < requests.ndjson', 'a product by its name');

export const options = (yargs: Argv) => ownOptions(yargs.options(parameters) as Argv);

type Given = GivenTo<typeof ownOptions>;

/** Bytes of answers that are written at once. */
const MOST_HELD = 1 << 16;

/** @throws Failure `wrong_usage`, `unreadable_file`, `invalid_yaml`, `invalid_definition`, `limit_reached` */
export async function run(given: Given): Promise<void> {
  const definition = definitionOf(await limiterOf(given), given.cycleMs);
  const [{ Deciders }, { LineCutter }] = await Promise.all([
    import('../limiter/products/deciders.js'),
    import('../traffic/log/lines.js'),
  ]);
  const deciders = new Deciders(definition, given.made);
  let answers = '';
  const answer = (one: object) => {
    answers += `${JSON.stringify(one)}\n`;
  };
  const wrong = (line: number, code: string, what: string) => {
    process.exitCode = 2;
    answer({ line, code, what });
  };
  const cutter = new LineCutter(
    {
      line(bytes, from, to, number) {
        const decided = deciders.decideLine(bytes.toString('utf8', from, to));
        if ('code' in decided) wrong(number, decided.code, decided.what);
        else answer(decided);
      },
      end() {},
    },
    { skip: (number, why) => wrong(number, 'invalid_json', `The line is ${why}.`) },
  );
  const flush = async () => {
    const ready = answers;
    answers = '';
    if (ready !== '' && !process.stdout.write(ready)) await once(process.stdout, 'drain');
  };
  for await (const chunk of process.stdin) {
    for (let at = 0; at < chunk.length; at += MOST_HELD) {
      cutter.push((chunk as Buffer).subarray(at, at + MOST_HELD));
      await flush();
    }
  }
  cutter.end();
  await flush();
}

async function limiterOf(given: Given): Promise<unknown> {
  const { rule, like } = given;
  if ((rule === undefined) === (like === undefined)) {
    throw usageFailure(
      'A limiter is needed: --rule with a file, or --like with a name.',
      'For example --like nginx --rate 10r/s.',
    );
  }
  if (like !== undefined) {
    return { like, ...Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(parameters, name))) };
  }
  const text = contentOf(rule as string);
  const { readDocument } = await import('../scenario/document.js');
  return readDocument(text, rule as string).value;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure('unreadable_file', {
      what: `The rule ${path} cannot be read.`,
      why: `${(error as Error).message}.`,
      fix: 'Give the path of a file in YAML or JSON.',
    });
  }
}
