// The schemas of what commands of this folder print with --json, as far as it is theirs alone.
import { Profile } from '../core/limiter/products/profile.js';
import { RuleDefinition } from '../core/limiter/rule/rule-definition.js';
import { VerificationShape } from '../core/record/verification.js';
import { exact, real, titled } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { RetrySpec } from '../harness/clients/retry-schema.js';
import { Verdict } from '../harness/outcome/outcome-schema.js';
import { Any, Count, Measure, Nullable, Text } from '../harness/outcome/read-schema.js';
import { ReportedOutcome } from '../report/read-report.js';

const { Optional } = Type;
const ok = Type.Literal(true);
const notes = Optional(Type.Array(Text('What a reader should know.')));
const path = Text('A path of this machine.');
const fingerprint = Text('Fingerprint of the key of the node.');

const explained = {
  limiter: Any('The limiter, as in a scenario.'),
  rule: RuleDefinition,
  profile: Profile,
};

const ListedLimiter = exact({
  name: Text('Its name.'),
  product: Text('Whose it is.'),
  example: Text('The limiter in words.'),
  refused: Text('What a refused request does.'),
  primitive: Text('The rule that it follows.'),
  profile: Profile,
});

export const LimiterAnswer = Type.Union(
  [
    exact({ ...explained, notes }),
    exact({ limiters: Type.Array(exact(explained)), notes }),
    exact('Without a limiter: all of them.', { limiters: Type.Array(ListedLimiter) }),
  ],
  { title: 'weir limiter --json' },
);

const library = {
  name: Text('Its name in a scenario.'),
  library: Text('The library, with its version.'),
  held: Text('What it is held to: run is a test against the library itself.'),
  client: RetrySpec,
};

const Burst = exact('A hundred jobs at once, at a limiter of 10/s with a burst of 10.', {
  attempts: Count('Requests sent.'),
  succeeded: Count('Jobs served.'),
  givenUp: Count('Jobs given up.'),
  amplification: Measure('Attempts per job.'),
  sentMs: Type.Array(Measure('When a request was sent, in ms.')),
  lastMs: Measure('When the last one was.'),
});

export const ClientAnswer = Type.Union(
  [
    exact({ clients: Type.Array(exact(library)) }),
    exact({
      ...library,
      at_failures: Type.Array(exact({ share: real(0, 1, 'Of requests that fail.'), attempts: Measure('Per job.') })),
      burst: Burst,
    }),
  ],
  { title: 'weir client --json' },
);

const figure = Type.Union([Type.Number(), Type.Null()], { description: 'Null where the run lacks it.' });
const run = Text('The run, as it was named.');

const Change = exact({
  baseline: Type.Number(),
  delta: Type.Number(),
  'share?': Type.Number({ description: 'Of the baseline; absent for 0.' }),
  verdict: Type.Enum(['same', 'better', 'worse', 'other'], { description: 'A change by at most 5 % is the same.' }),
});

const RunsCompared = exact('Of several runs.', {
  runs: Type.Array(
    exact({
      name: run,
      scenario: Text('Name of its scenario.'),
      seed: ReportedOutcome.properties.seed,
      verdict: Verdict,
      digest: Text('Of its outcome.'),
    }),
  ),
  baseline: Nullable(run),
  figures: Type.Array(
    exact({
      name: Text('The figure.'),
      unit: Text('Its unit.'),
      values: Type.Array(figure, { description: 'By run.' }),
      changes: Type.Array(Nullable(Change), { description: 'By run; null without a baseline.' }),
    }),
  ),
  worse: Type.Array(exact({ run, figure: Text('The figure.'), baseline: Type.Number(), value: Type.Number() })),
});

export const ReportAnswer = Type.Union([ReportedOutcome, RunsCompared], { title: 'weir report --json' });

const lostRows = Type.Array(
  exact({ machine: Text('Its slug.'), from_seq: Count('First row.'), to_seq: Count('Last row.') }),
  { description: 'Rows that are lost, by machine.' },
);

export const ServeAnswer = titled('weir serve --json', {
  ok,
  url: Text('Of the node.'),
  metrics_url: Nullable(Text('Of its figures for Prometheus.')),
  grpc: Nullable(Text("Address of Envoy's service.")),
  data: Nullable(path),
  fingerprint,
  public_key: Text('The public key of the node.'),
  cycle_ms: Count('Length of a cycle in ms.'),
  version: Text('Of the program.'),
  pid: Count('Of the process.'),
  'lost?': lostRows,
});

const kept = {
  machines: Count('Machines in it.'),
  rows: Count('Rows of their records.'),
  newest_at: Nullable(Text('When the newest row was written, ISO 8601.')),
  fingerprint,
};

export const BackupAnswer = titled('weir node backup --json', {
  ok,
  file: path,
  manifest: path,
  bytes: Count('Of the file.'),
  ...kept,
  key_file: Nullable(path),
});

export const RestoreAnswer = titled('weir node restore --json', { ok, data: path, ...kept, lost: Nullable(lostRows) });

export const EvictAnswer = titled('weir node evict --json', {
  ok,
  owner: Text('Their id.'),
  keys: Count('Keys revoked.'),
  machines: Count('Machines deleted.'),
  contracts: Count('Contracts deleted.'),
});

export const RecordAnswer = titled('weir node record --json', { ok, file: path, bytes: Count('Of the file.') });

export const VerifyAnswer = Type.Object({ ok, ...VerificationShape.properties }, { title: 'weir verify --json' });
