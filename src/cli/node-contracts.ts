// `weir node deploy`, `candidate` and `gate`: a deploy makes a missing machine, a candidate is set or shown, and a gate ends with its decision.
import { changeContract, showCandidate } from '../api/changes.js';
import type { AnswerOf } from '../api/client/api-client.js';
import { createContract, deployRateLimiter } from '../api/contracts.js';
import { gateByPost } from '../api/events.js';
import { createMachine } from '../api/machines.js';
import type { ContractDefinition } from '../core/limiter/definition.js';
import { nearestWindow } from '../core/schema/quantity.js';
import { whole } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { warn } from '../report/command/say.js';
import { counted, duration } from '../report/words.js';
import { answerTo, askOf, cycleMsOfNode, routeCommand, routeOptions } from './node-route.js';

interface DeployBody {
  readonly slug: string;
  readonly name?: string;
  readonly rule?: object;
  readonly keyed?: object;
  readonly definition?: ContractDefinition;
}

export const deploy = routeCommand('deployRateLimiter', {
  options: { keyed: whole(1, Number.MAX_SAFE_INTEGER, 'count each key separately, for up to this number of keys') },
  examples: [
    ['node deploy shop', '100 requests in 60 cycles; makes the machine where there is none'],
    ['node deploy shop --name login --threshold 5', 'one that is called login'],
    ['node deploy edge-gateway --keyed 10000', 'the same for each client: weir node gate edge-gateway --client ann'],
    ['node deploy edge-gateway --set shadow=true --set gate.key.header=X-Api-Key', 'further fields of the route'],
    ["node deploy edge-gateway --limit 'nginx 10r/s burst=5'", 'as nginx does'],
    ['node deploy edge-gateway --limit contract.json', 'any other contract, also a machine of XState'],
  ],
  run: async (node, { body }, { keyed: max_keys, within: written }) => {
    const { definition, keyed: given, ...rest } = body as unknown as DeployBody;
    const { slug, name, rule, ...further } = rest;
    const keyed = max_keys === undefined ? given : { max_keys, ...given };
    const { limiterNotes, windowsOf } = await import('../core/limiter/products/limiter-spec.js');
    for (const note of limiterNotes(definition === undefined ? rule : { definition })) warn(`${note}\n`);
    const [field] = Object.keys(further);
    if (definition !== undefined && field !== undefined)
      throw usageFailure(`--set ${field} has no effect with a definition.`, 'Write it into the definition.');
    const [route, ask] =
      definition === undefined
        ? [deployRateLimiter, { body: { ...rest, keyed } }]
        : [createContract, { params: { slug }, body: { ...definition, keyed, contract_name: name } }];
    const deployed = async () => (await node.api.send(route, ask)).body as AnswerOf<typeof createContract>;
    const answer = await deployed().catch(async (error: { readonly code?: unknown }) => {
      if (error.code !== 'machine_not_found') throw error;
      await node.api.call(createMachine, { body: { slug } });
      warn(`weir: the machine ${slug} is new, and private\n`);
      return deployed();
    });
    const { within } = answer.contract;
    const window = (written ?? (rule && windowsOf(rule)[0])) as string | undefined;
    const note = within === undefined ? undefined : nearestWindow(window, within, await cycleMsOfNode(node));
    return { answer, note };
  },
});

const numbers = Object.entries(routeOptions([changeContract])).filter(([word]) =>
  /^(limit|threshold|within)$/.test(word),
);

export const candidate = routeCommand('showCandidate', {
  options: Object.fromEntries(numbers),
  examples: [
    ['node candidate shop login --threshold 50', 'check a lower limit beside the present one'],
    ['node candidate shop login', 'what the two would do differently, and to which clients'],
    ['node change shop login --set candidate=null', 'check it no more'],
  ],
  run: async (node, ask, given) => {
    const { params, body } = await askOf(node, changeContract, given);
    const { limiter, definition, ...window } = body!;
    const checked = definition === undefined ? (limiter ?? window) : { definition };
    if (Object.keys(checked as object).length === 0) return { answer: await answerTo(node.api, showCandidate, ask) };
    return { answer: await answerTo(node.api, changeContract, { params, body: { candidate: checked } }) };
  },
});

const LIMITED = 1;

export const gate = routeCommand('gateByPost', {
  examples: [
    ['node gate edge-gateway && ./send-it', 'in a script'],
    ['node gate edge-gateway --peek', 'is there room?'],
  ],
  run: async (node, ask) => {
    const answer = (await answerTo(node.api, gateByPost, ask)) as AnswerOf<typeof gateByPost>;
    const { decision, state, count = 0, threshold, retry_after_cycles: cycles, away } = answer;
    if (away) return { answer, words: 'admitted: the store is away, and nothing was counted' };
    const most = threshold === undefined ? '' : `, limit ${threshold}`;
    const words = `${decision}: ${state}, ${counted(count, 'request')} in the window${most}`;
    if (decision !== 'limited') return { answer, words };
    const ms = answer.retry_after_ms ?? (cycles === undefined ? undefined : cycles * (await cycleMsOfNode(node)));
    const again = ms === undefined ? 'No wait is long enough' : `Retry in ${duration(ms)}`;
    return { answer, words: `${words}. ${again}`, exit: LIMITED };
  },
});
