// `weir decide`: a limiter as a filter. A request a line comes in as JSON, its decision goes out as a line, in order.
//
//   {"t_ms": 1699999200000, "n": 1, "key": "a", "hold_ms": 0}
//     -> {"admitted": true, "delay_ms": 0, "retry_after_ms": 0, "remaining": 9, "state": "allowing"}
import { once } from 'node:events';
import type { Argv } from 'yargs';
import { definitionOf } from '../limiter/products/products.js';
import type { GivenTo, OptionRules } from './command.js';
import { usageFailure } from './ending.js';
import { limiterGiven, limiterNeeds, limiterOptions, windowOf } from './limiter-options.js';
import { cycleMsOf, cycleMsOption } from './options.js';
import { say } from './say.js';

export const options = (yargs: Argv) =>
  limiterOptions(yargs)
    .option('made', {
      type: 'number',
      requiresArg: true,
      describe: 'when the limiter was made, in ms (default: the first request)',
    })
    .option('cycle-ms', cycleMsOption)
    .example('$0 decide --rule rule.yaml < requests.ndjson', 'a decision a line')
    .example('$0 decide --like nginx --rate 10r/s --burst 5 < requests.ndjson', 'a product by its name');

export const rules: OptionRules = { needs: limiterNeeds(), without: { 'cycle-ms': ['like', 'primitive', 'paste'] } };

type Given = GivenTo<typeof options>;

/** Bytes of answers that are written at once. */
const MOST_HELD = 1 << 16;

/** @throws Failure `wrong_usage`, `unreadable_file`, `invalid_yaml`, `invalid_definition`, `limit_reached` */
export async function run(given: Given): Promise<void> {
  const limiter = await limiterGiven(given);
  if (limiter === undefined) {
    throw usageFailure(
      'A limiter is needed: --rule with a file, or --like with a name.',
      'For example --like nginx --rate 10r/s.',
    );
  }
  const definition = definitionOf(limiter, cycleMsOf(given.cycleMs, [windowOf(limiter)]));
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
    if (ready !== '' && !say(ready)) await once(process.stdout, 'drain');
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
