// The topics of `weir help`, in reading order: questions in the words people type, tools with their commands, all others. The site shows them, too.
import { commands, type Topic } from '../commands.js';

const page = (name: string, about: string): Topic => ({ name, path: `src/cli/topics/${name}.md`, about });

export const topics: readonly Topic[] = [
  page('on-call', 'was it us: which answers of 429 in a log are those of our limit, and which are not'),
  page('everybody-limited', 'everybody is limited at once: the key is the proxy'),
  page('which-number', 'which number: from a log, and what to ask before you take it'),
  page('try-first', 'try before it bites: on a log, in the pull request, live without refusing'),
  page('assertion', 'does my limiter work: a URL, and a test that does not flake'),
  page('replicas', 'N replicas: what one limit on several nodes lets through'),
  ...new Set(commands.flatMap((command) => command.topics)),
  page('logs', 'what is read, a format of your own, rules side by side over one log'),
  { name: 'scenarios', path: 'scenarios/README.md', about: 'those that come with Weir, and every field' },
  { name: 'fields', about: 'every field of a scenario, with an example: weir help fields arrivals.burst' },
  page('rules', 'the rule of our limiter, those of sixty products, exit codes'),
  page('live', 'runs against a live node or product, the three verdicts'),
  page('operations', 'the node: routes, durability, backup, upgrades'),
  {
    name: 'gateways',
    path: 'scenarios/recipes/README.md',
    about: 'nginx, Caddy, HAProxy, Apache, Traefik and Envoy ask a node',
  },
  page('network', 'many nodes over one Redis, and what they promise when something breaks'),
  page('machines', 'a state machine of your own, from XState to a running node'),
  page('library', 'scenarios, limiters, nodes and clients in a program'),
  page('security', 'threats, what a node trusts, and what is on its disk'),
  page('promises', 'what 1.0 keeps until 2.0, and what may change'),
  page('other-tools', 'what other tools do better, what they do not do, and which published results are reproduced'),
  { name: 'commands', about: 'every command with its options' },
  { name: 'house', path: 'src/README.md', about: 'how it is built, and how to add to it' },
];
