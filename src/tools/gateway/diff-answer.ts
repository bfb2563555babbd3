// The schema of `weir diff --json`, and the types of its parts.
import { exact, flag, shape } from '../../core/schema/fields.js';
import { type Shaped, Type } from '../../core/schema/json-schema.js';
import { Quantiles } from '../../harness/outcome/outcome-schema.js';
import { Any, Count, Measure, Nullable, Read, Text } from '../../harness/outcome/read-schema.js';

const file = Text('A file of the limits.');
const line = Count('Its line there.');
const name = Text('Name of the limit.');
const where = Text('Its place in the file; empty: everywhere.');

const Noted = { file, line, what: Text('What the file has there.') };

const LimitKey = exact({
  text: Text('What it counts by.'),
  'parts?': Type.Array(Any('A part of a request.'), { description: 'Absent if no access log has it.' }),
});

const Limiter = exact({
  name,
  file,
  line,
  'defined?': exact('Where rate and key are.', { file, line }),
  where,
  hosts: Type.Array(Text('A host; none: all.')),
  paths: Type.Array(Any('What its path fulfils; none: all.')),
  reach: Type.Enum(['known', 'unknown'], { description: 'Whether the file says which requests it covers.' }),
  key: LimitKey,
  counts: Type.Enum(['requests', 'connections', 'concurrency', 'errors'], { description: 'What it counts.' }),
  'limit?': Any('The limit, as in a scenario.'),
  'status?': Count('Status of a refusal.'),
  isDryRun: flag('Whether it only says what it would refuse.'),
  counter: Text('Limits with the same counter count together.'),
  instances: Count('Instances that count each by itself.'),
  'condition?': Text('What a request that is counted fulfils.'),
  'refused_if?': Text('What a request that is refused fulfils.'),
});

const Side = exact({
  limiters: Type.Array(Limiter),
  not_understood: Type.Array(exact(Noted)),
  not_applied: Type.Array(exact({ ...Noted, name, 'key?': Any('What it counts by.'), 'limit?': Any('The limit.') })),
});

const Change = exact({
  kind: Type.Enum(['added', 'removed', 'changed'], { description: 'What became of it.' }),
  name,
  where,
  file,
  line,
  'old?': Text('The old limit in words.'),
  'new?': Text('The new limit in words.'),
  differs: Type.Array(Text('What else differs.')),
  'from?': Text('The old limit that this one replaces; `differs` is in words of no product.'),
  'burst?': Type.Array(
    Count('Of burst_of requests at once, those that old and new limits admit, delayed ones included.'),
  ),
  'burst_of?': Count('Requests at once. Absent for limits on requests in flight.'),
});

export type LimitChange = Shaped<typeof Change>;

const refusals = {
  requests: Count('Requests.'),
  refused_old: Count('Of them, those that the old limits refuse.'),
  refused_new: Count('Of them, those that the new limits refuse.'),
  newly_refused: Count('Those that only the new limits refuse.'),
  newly_admitted: Count('Those that only the old limits refuse.'),
};
const ChangeCounts = exact({ name: Text('Whose they are.'), ...refusals });
export type ChangeCounts = Shaped<typeof ChangeCounts>;
const Counts = Type.Array(ChangeCounts);
const { refused_old, refused_new, ...counts } = refusals;
const KeyCounts = exact({
  key: Text('The client, or what --key names.'),
  old: refused_old,
  new: refused_new,
  ...counts,
});
const LeftOut = Type.Array(exact({ name, where, why: Text('Why it was not put through the log.') }));

const Retries = exact({
  like: Text('The client library.'),
  refused: Count(
    'Newly refused requests, and retries refused because of them. Retries after old refusals are in the log.',
  ),
  not_retried: Count('Requests not sent again.'),
  retries: Count('Requests sent again.'),
  extra_load: Measure('Retries as a share of the requests.'),
  served: Count('Requests served by a retry.'),
  given_up: Count('Requests given up.'),
  wait_ms: Nullable(
    shape('From the first attempt to success, of requests served by a retry; null if there are none.', {
      ...Quantiles.properties,
      'taken?': Text('How.'),
    }),
  ),
});

export type RetryCost = Shaped<typeof Retries>;

const Traffic = exact({
  log: Text('Name of the log.'),
  ...refusals,
  share: Type.Array(Measure('Share of the requests that old and new limits refuse.')),
  clients: Count('Clients of the log.'),
  clients_newly_refused: Count('Clients with newly refused requests.'),
  clients_newly_admitted: Count('Clients with newly admitted requests.'),
  newly_refused_share: Measure('newly_refused / requests.'),
  'newly_refused_at_once?': Count('With times of whole seconds: if all of a second came at its beginning.'),
  keys: Type.Array(KeyCounts),
  by_path: Counts,
  by_minute: Counts,
  by_limiter: Type.Array(exact({ name, where, file, line, newly_refused: Count('Requests it newly refuses.') })),
  'retries?': Retries,
  left_out: exact({ old: LeftOut, new: LeftOut }),
  unjudged: LeftOut,
  warnings: Read.properties.warnings,
});

export type DiffTraffic = Shaped<typeof Traffic>;

const Compared = {
  weir: Text('Version of the program.'),
  kind: Type.Literal('diff'),
  names: exact({ old: Text('As given.'), new: Text('As given.') }),
  replicas: Count('Instances of the gateway.'),
  limiters: Type.Array(Change, { description: 'Those that differ.' }),
  not_understood: Type.Array(exact({ file, line, text: Text('What the new files have there.') })),
  'written?': exact('With --as: the old limits, written for another product.', {
    as: Text('The product.'),
    text: Text('Its configuration.'),
    left: Type.Array(Text('What it cannot say.')),
    limiters: Type.Array(Change),
    'traffic?': exact('With --log: refusals of both.', refusals),
  }),
  old: Side,
  new: Side,
};

const Budget = exact({
  newly_refused_below: Measure('The share that may be newly refused.'),
  held: Nullable(flag('Null if it cannot be judged.')),
});

export const DiffAnswer = Type.Union(
  [exact(Compared), exact('With --log.', { ...Compared, ...Traffic.properties, 'budget?': Budget })],
  { title: 'weir diff --json' },
);
