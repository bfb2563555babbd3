// The schema of several rules compared on the same requests.
import type { Static } from 'typebox';
import { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { exact, flag, real, titled } from '../../core/schema/fields.js';
import { type Shaped, Type } from '../../core/schema/json-schema.js';
import { Count, Measure, Read, Text } from './read-schema.js';

const Share = (description: string) => real(0, 1, description);
const Parts = (description: string) =>
  Type.Array(Type.Array(Count('In this part.'), { description: 'By part.' }), { description });

const ComparedRule = exact({
  name: Text('Name of the rule, or of the policy.'),
  rule: RuleDefinition,
  requests: Count('Requests decided. Clients that react send another number to each rule.'),
  admitted: Count('Of them, those admitted.'),
  limited: Count('Of them, those refused.'),
  limited_share: Share('limited / requests; 0 of 0.'),
  keys_limited: Count('Keys with a refused request.'),
  worst_burst_1s: Count('The most requests of one key that started in any second.'),
  fairness: Share(
    "Jain's index of the admitted shares of the keys: 1 where all have the same, 1 / keys where one has everything.",
  ),
  wasted: Count('Refused requests of keys that were closed already: work of client and gateway for nothing.'),
  longest_closure_ms: Measure(
    'The longest time from a refused request of a key until one would be admitted, whether the key comes back by then or not.',
  ),
  'retries?': Count('Attempts of clients after the first of a job.'),
  'goodput_per_second?': Measure('Jobs of clients served while still wanted, per second.'),
  'served_in_vain?': Count('Requests that the service served although abandoned.'),
});

const compared = {
  keys: Count('Keys with requests; contracts of a scenario.'),
  rules: Type.Array(ComparedRule, { description: 'In the order asked for.' }),
  timeline: exact('Up to 48 parts of equal length.', {
    startMs: real(-1e15, 1e15, 'Unix ms of the first part.'),
    partMs: Measure('Length of a part.'),
    requests: Parts('Requests by rule.'),
    refused: Parts('Refused requests by rule.'),
  }),
};

export const ComparedRules = exact('The same with other rules, fitted to the same rate.', compared);

const ChangedKey = exact({
  key: Text('The key.'),
  requests: Count('Its requests.'),
  newly_refused: Count('Of them, those that only the second limit refuses.'),
  newly_admitted: Count('Of them, those that only the first limit refuses.'),
});

/** What `weir replay` prints of several rules. */
export const ReplayComparison = titled('weir replay --compare --json', {
  weir: Text('Version of the program.'),
  kind: Type.Literal('compare'),
  log: Text('Name of the log.'),
  cycle_ms: Count('Length of a cycle in ms.'),
  requests: Count('Requests of the log.'),
  partial: flag('True when reading was stopped.'),
  ...compared,
  'changes?': exact('Of two limits.', {
    newly_refused: Count('Requests that only the second limit refuses.'),
    newly_admitted: Count('Requests that only the first limit refuses.'),
    keys_newly_refused: Count('Keys with such requests.'),
    keys_newly_admitted: Count('Keys with such requests.'),
    by_key: Type.Array(ChangedKey, { description: 'Those with most newly refused requests, first.' }),
  }),
  read: Read,
});
export type ChangedKey = Shaped<typeof ChangedKey>;

export type ComparedRule = Static<typeof ComparedRule>;
export type ComparedRules = Static<typeof ComparedRules>;
