// `weir node inspect`: a template as the node has it. With --as, and no node, also a definition of your own, or a kind of client: as a
// starting point for a copy, as a machine for XState's visual tools, or as a diagram.
import { rateLimiter, TEMPLATE_ID } from '../core/limiter/rate-limiter.js';
import { type ClientKind, clientKinds } from '../harness/clients/client-schema.js';
import { choice, command, type GivenTo, text } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { limiterGiven } from '../report/command/limit.js';
import { say } from '../report/command/say.js';
import { routeCommand } from './node-route.js';

const options = {
  name: text('id of the template; with --as also the JSON file of a definition', {
    place: true,
    default: TEMPLATE_ID,
  }),
  as: choice(
    ['definition', 'xstate', 'mermaid'],
    "print it, without a node, as a definition to copy and change, as a machine for XState's visual tools, or as a state diagram in the Mermaid language",
    { without: ['url', 'json'] },
  ),
  client: choice(
    Object.keys(clientKinds) as ClientKind[],
    'the statechart of a kind of client: a diagram, or with --as xstate its machine',
    { without: ['url', 'json', 'name'] },
  ),
};

const fromNode = routeCommand('inspectTemplate', {
  isPublic: true,
  options,
  examples: [
    ['node inspect', 'the windowed rate limiter'],
    ['node inspect --json', 'the whole definition'],
    ['node inspect --as definition > contract.json', 'the same without a node, to change it'],
    ['node inspect contract.json --as xstate', 'the machine; its field meta.needs says how to run it'],
    ['node inspect contract.json --as mermaid', 'a diagram of a definition of your own'],
    ['node inspect --client retrying', 'a diagram of a client that retries'],
  ],
});

export const inspect = command({
  ...fromNode,
  run: async (given, line) => {
    const { name, as, client } = given as GivenTo<typeof options>;
    if (as === undefined && client === undefined) return fromNode.run(given, line);
    say(client === undefined ? await definitionText(name, as) : await clientText(client, as));
  },
});

async function definitionText(name: string, as: string | undefined): Promise<string> {
  const [{ contractMachine }, { contractDiagram }, { planContract }] = await Promise.all([
    import('../core/limiter/contract-machine.js'),
    import('../core/limiter/state-diagram.js'),
    import('../core/limiter/validate.js'),
  ]);
  const given = name === TEMPLATE_ID ? { definition: rateLimiter() } : await limiterGiven(name);
  if (!('definition' in given))
    throw usageFailure(`${name} is a limiter without states of its own.`, 'Give the file of a definition.');
  const { definition } = planContract(given['definition']);
  if (as === 'mermaid') return contractDiagram(definition);
  const { schemas: _, ...config } = contractMachine(definition).config;
  return `${JSON.stringify(as === 'xstate' ? config : definition, null, 2)}\n`;
}

async function clientText(client: ClientKind, as: string | undefined): Promise<string> {
  if (as === 'definition') throw usageFailure('A client has no definition.', 'Say --as xstate or --as mermaid.');
  const [{ chartOf }, { clientDiagram }] = await Promise.all([
    import('../harness/clients/client-plan.js'),
    import('../harness/clients/client-diagram.js'),
  ]);
  const chart = chartOf(client);
  return as === 'xstate' ? `${JSON.stringify(chart.config, null, 2)}\n` : clientDiagram(chart);
}
