// The topics of `weir help`, in reading order: those of tools, which come with their commands, before all others. The site shows the same texts.
import { commands, type Topic } from '../commands.js';

const page = (name: string, about: string): Topic => ({ name, path: `src/cli/topics/${name}.md`, about });

export const topics: readonly Topic[] = [
  ...commands.flatMap(({ topic }) => topic ?? []),
  page('logs', 'what is read, a format of your own, rules side by side over one log'),
  { name: 'scenarios', path: 'scenarios/README.md', about: 'those that come with Weir, and every field' },
  { name: 'fields', about: 'every field of a scenario, with an example: weir help fields arrivals.burst' },
  page('rules', 'the rule of our limiter, those of sixty products, exit codes'),
  page('assertion', 'does my limiter work: a test that does not flake, and the same for a URL'),
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
