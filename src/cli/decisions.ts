// `weir limiter … -`: a limiter as a filter. Each line is a request in JSON; the output has its decision, in the same order.
//
//   {"t_ms": 1699999200000, "n": 1, "key": "a", "hold_ms": 0}
//     -> {"admitted": true, "delay_ms": 0, "retry_after_ms": 0, "remaining": 9, "state": "allowing"}
import { once } from 'node:events';
import { decidersOf } from '../core/limiter/products/deciders.js';
import type { RuleDefinition } from '../core/limiter/rule/rule-definition.js';
import { LineCutter } from '../harness/traffic/log/lines.js';
import { say } from '../report/command/say.js';

const MOST_HELD = 1 << 16;

export async function decideStandardInput(rule: RuleDefinition): Promise<void> {
  const decide = decidersOf(rule);
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
        const decided = decide(bytes.toString('utf8', from, to));
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
