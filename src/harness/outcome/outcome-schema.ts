// The schema of an outcome, predicted or observed. Published with the package as JSON Schema.
import type { Static } from 'typebox';
import { exact, flag, real, titled, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { ComparedRules } from './compared-rules.js';
import { Count, Cycle, GatewayLimit, Measure, Nullable, Read, Text, WithoutPlace } from './read-schema.js';

export const TransitionSeen = exact({
  cycle: Cycle('Cycle of the transition.'),
  to: Text('State entered.'),
  count: Count('Count of the window that led to it; of a rule 1 if it refused, 0 if it admits again.'),
});

const figures = {
  requests: Count('Request events counted.'),
  admitted: Count('Requests decided as admitted.'),
  limited: Count('Requests decided as limited.'),
  entries: Count('Transitions from a state that admits to one that does not.'),
  restores: Count('Transitions back.'),
  limiting_cycles: Count('Sum of (restore cycle - entry cycle); an open stretch counts up to the last cycle.'),
  peak_count: Count('Largest count of a window.'),
  peak_cycle: Nullable(Cycle('First cycle with the peak; null when nothing was counted.')),
};

export const ContractOutcome = exact({
  id: Text('Name of the contract: all, a number, or the key of a log.'),
  threshold: Nullable(Count('Events a window may hold; null where the definition has no threshold.')),
  within: Count('Length of the window in cycles; 0 for a rule.'),
  'rule?': Text('Primitive of its rule; the counts are then what is used up of the threshold.'),
  ...figures,
  transitions: Type.Array(TransitionSeen, { description: 'In order of cycle.' }),
});

export const Quantiles = exact({
  n: Count('How many values.'),
  mean: Measure('ms'),
  p50: Measure('ms'),
  p90: Measure('ms'),
  p99: Measure('ms'),
  p999: Measure('ms'),
  max: Measure('ms'),
  taken: Text('How the values were taken, and with what resolution.'),
});

export const ClientFigures = exact({
  kind: Text('Kind of client; all for the sum.'),
  clients: Count('How many clients.'),
  jobs: Count('Requests that somebody wanted.'),
  attempts: Count('Requests that were sent.'),
  retries: Count('Attempts after the first of a job.'),
  succeeded: Count('Jobs that were served while still wanted.'),
  given_up: Count('Jobs given up.'),
  dropped: Count('Items dropped from a full buffer.'),
  abandoned: Count('Attempts whose client had given up.'),
  retry_amplification: Measure('Attempts per job.'),
  goodput_per_second: Measure(
    'Jobs served while still wanted, per second from the end of the warm-up to the end of the requests.',
  ),
  job_latency_ms: Nullable(Quantiles),
  attempt_latency_ms: Nullable(Quantiles),
});

export const ServiceFigures = exact({
  arrived: Count('Requests that reached the service.'),
  served: Count('Requests served.'),
  refused: Count('Requests refused because the queue was full.'),
  dropped: Count('Abandoned requests dropped from the queue.'),
  'failed?': Count('Requests that waited for too long, or whose answer failed, where either can be.'),
  wasted: Count('Requests served although abandoned.'),
  queue_mean: Measure('Mean number waiting from the end of the warm-up to the end of the requests, weighted by time.'),
  queue_max: Count('Largest number waiting.'),
  busy_share: Measure('Share of that time in which the servers were busy, 0 .. 1.'),
  wait_ms: Nullable(Quantiles),
  response_ms: Nullable(Quantiles),
});

export const CostFigures = exact({
  unit: Text('What is counted: tokens, say.'),
  requested: Count('What all requests cost.'),
  admitted: Count('What those cost that were admitted, served or not.'),
  most_in_minute: Count('The most that was admitted in any minute.'),
});
export type CostFigures = Static<typeof CostFigures>;

export const Reaction = exact({
  contract: Text('Name of the contract.'),
  entry_cycle: Cycle('Cycle in which the window first held more than the threshold.'),
  reaction_cycles: Measure('Cycles from there to the cycle in which the limiting was seen: 0 in the model.'),
  'reaction_ms?': Nullable(Measure('From sending the request that trips the gate to the first limited answer.')),
  'event_ms?': Nullable(Measure('From sending that request to the rate_limited event at the listener.')),
  restore_cycle: Nullable(Cycle('Cycle of the restore; null when the run ended before.')),
  'restore_ms?': Nullable(
    Measure('From the beginning of that cycle to the first admitted answer; null without such a request.'),
  ),
  'restore_event_ms?': Nullable(
    Measure('From the beginning of that cycle to the rate_restored event at the listener.'),
  ),
  recovery_cycles: Nullable(Measure('Cycles from the last request before the restore to the restore.')),
});

const ControlFigures = exact('The same run without what is claimed to be the cause.', {
  name: Text('What is missing in it.'),
  ...figures,
  'clients?': Type.Array(ClientFigures, { description: 'One for each kind, the sum first.' }),
  'service?': ServiceFigures,
  digest: Text('Of its own outcome.'),
});

export const Replications = exact({
  n: Count('How many runs, with seeds that follow from the seed of the scenario.'),
  held: Count('Runs in which every expectation held.'),
  held_share: exact('Share of all seeds in which every expectation holds: 95 % interval of Wilson.', {
    low: real(0, 1, 'Lower end.'),
    high: real(0, 1, 'Upper end.'),
  }),
  failed_seeds: Type.Array(Type.Union([Type.Number(), Type.String()]), {
    maxItems: 100,
    description: 'Seeds of runs in which an expectation did not hold, the first 100.',
  }),
  figures: Type.Record(
    Type.String(),
    exact({
      mean: real(-1e300, 1e300, 'Mean over the replications.'),
      low: real(-1e300, 1e300, 'Lower end of the 95 % interval of the mean.'),
      high: real(-1e300, 1e300, 'Upper end of the 95 % interval of the mean.'),
      interval: Type.Enum(['t', 'wilson', 'bootstrap'], {
        description:
          "How the interval was taken: Student's t, Wilson's score, or a bootstrap made for rare and skewed figures.",
      }),
      min: real(-1e300, 1e300, 'Smallest value.'),
      max: real(-1e300, 1e300, 'Largest value.'),
    }),
    {
      description:
        'By the name of the figure, for example limited or clients.retries. For a quantile it is the mean of the quantiles of the runs, not the quantile of all runs together.',
    },
  ),
});

export const Difference = exact({
  cycle: Cycle('Cycle in which it shows first, as counted by the target.'),
  contract: Text('Name of the contract.'),
  figure: Text('What differs: requests, admitted, limited, state, transition, event.'),
  predicted: Type.Union([Type.Number(), Type.String(), Type.Null()], { description: 'What the model says.' }),
  observed: Type.Union([Type.Number(), Type.String(), Type.Null()], { description: 'What the target did.' }),
  'note?': Text('What it may come from.'),
});

export const Comparison = exact({
  verdict: Type.Enum(['agrees', 'node differs', 'run invalid'], { description: 'One of three words.' }),
  reason: Text('Why, in a sentence.'),
  'remark?': Text('What else was seen that is no difference, for example retry waits that were too short.'),
  compared_cycles: Count('Cycles looked at.'),
  compared_decisions: Count('Decisions looked at.'),
  tolerance: Text('What is not counted as a difference: none, or the uncertainty at the edges of cycles.'),
  differences_total: Count('All differences; the list may be cut.'),
  differences: Type.Array(Difference, { description: 'In order of cycle.' }),
});

const AnswerFigures = exact('What came back, for `weir load URL`.', {
  seconds: Type.Number({ minimum: 0, description: 'From the first intended send to the last answer.' }),
  statuses: Type.Record(Type.String(), Count('Answers.'), { description: 'Answers by HTTP status.' }),
  errors: Type.Record(Type.String(), Count('Requests.'), {
    description: 'Requests without an answer, by kind: timed_out, closed, refused, not_http, other.',
  }),
  bytes: Count('Bytes of all bodies received.'),
  histogram: Type.Array(
    exact({
      up_to_ms: Nullable(Type.Number({ description: 'Upper bound of the step; null: anything longer.' })),
      n: Count('Answers.'),
    }),
    {
      description:
        'Latency from the intended send time, or from sending where nothing was intended before; in steps of 1, 2 and 5.',
    },
  ),
  limit: Nullable(
    exact({
      status: Count('Status of the first limited answer.'),
      after_answers: Count('Its place among all answers.'),
      after_seconds: Type.Number({ description: 'When it came, from the first intended send.' }),
      announced_limit: Nullable(
        Type.Number({ description: 'Requests, by RateLimit-Policy, RateLimit or X-RateLimit-Limit.' }),
      ),
      announced_window_s: Nullable(Type.Number({ description: 'Window, by RateLimit-Policy.' })),
      retry_after_s: Nullable(Type.Number({ description: 'Its Retry-After.' })),
      limited_seconds: Type.Number({ description: 'From the first limited answer to the last.' }),
      admitted_per_second: Nullable(Type.Number({ description: 'Admitted meanwhile; null for less than a second.' })),
    }),
  ),
});
export type AnswerFigures = Static<typeof AnswerFigures>;

export const LiveFigures = exact({
  target: Text('Where the requests went.'),
  planned: Count('Requests of the schedule.'),
  sent: Count('Requests sent: answered + failed + timed out.'),
  answered: Count('Requests with an answer that could be read.'),
  failed: Count('Requests refused, reset, or answered with an error.'),
  timed_out: Count('Requests without an answer in time.'),
  arrived: Count('Requests that the target says it counted.'),
  late: Count(
    'Requests sent in a later cycle than planned; by a limiter by the ms, and by clients, more than 250 ms late.',
  ),
  connections: Count('Connections of the pool.'),
  send_lag_ms: Nullable(Quantiles),
  latency_ms: Nullable(Quantiles),
  raw_latency_ms: Nullable(Quantiles),
  by_decision: Type.Record(Type.String(), Quantiles, { description: 'Latency of admitted and of limited answers.' }),
  by_phase: Type.Record(Type.String(), Quantiles, { description: 'Latency by phase of the scenario.' }),
  'answers?': AnswerFigures,
  by_cycle: Type.Array(
    exact({
      cycle: Cycle('Cycle of the target.'),
      planned: Count('Planned for the cycle.'),
      sent: Count('Sent in the cycle.'),
      arrived: Count('Counted by the target in the cycle.'),
    }),
  ),
});

export const ExpectationOutcome = exact({
  name: Text('What the scenario calls it.'),
  expected: Text('The condition.'),
  actual: Type.Union([Type.Number(), Type.String(), Type.Null()], {
    description: 'The value found; null where there was none.',
  }),
  held: flag('With replications: whether it held in enough of them.'),
  'share?': real(0, 1, 'The share of replications in which it must hold. Default: 1.'),
  'held_in?': Count('In how many replications it held.'),
});

/** Exit codes: held and nothing expected 0, not held 1, differs 3, invalid 4. */
export const Verdict = Type.Enum(['held', 'nothing expected', 'not held', 'differs', 'invalid'], {
  description: 'The verdict of the run.',
});

export const Outcome = titled('Weir outcome', {
  weir: Text('Version of the program.'),
  kind: Type.Enum(['simulate', 'replay', 'load'], { description: 'The command that ran.' }),
  arm: Type.Enum(['predicted', 'observed'], { description: 'The model, or a live target.' }),
  scenario: Text('Name of the scenario or log.'),
  'question?': Text('The question that the scenario asks.'),
  seed: Type.Union([Type.Integer(), Type.String()], { description: 'All chance of the run follows from it.' }),
  'partial?': flag('True when the run was stopped before its end.'),
  cycle_ms: whole(1, 86_400_000, 'Length of a cycle in ms.'),
  first_cycle: Nullable(Cycle('Cycle of the first event or the start of the scenario; null when nothing was counted.')),
  last_cycle: Nullable(Cycle('End of the drain.')),
  skipped_lines: Count('Lines of a log that were skipped: they are not requests.'),
  'read?': Read,
  'limits?': Type.Array(GatewayLimit, { description: 'Of the files of a gateway, those that refuse most first.' }),
  contracts: Count('Contracts of the run.'),
  contracts_limited: Count('Contracts with at least one limited request.'),
  ...figures,
  'without_place?': WithoutPlace,
  'delayed?': Count('Of those admitted, how many a rule held first.'),
  'delay_ms?': Nullable(Quantiles),
  'states?': Type.Array(
    exact({
      name: Text('Name of the state.'),
      admits: flag('Whether requests are admitted in it.'),
    }),
    { description: 'States of the definition, the initial one first; absent if they are allowing and limiting.' },
  ),
  by_contract: Type.Array(ContractOutcome, {
    description: 'By limited, most first, then id; may be cut, totals not.',
  }),
  'reactions?': Type.Array(Reaction, { description: 'One for each entry, in order of cycle; at most 1,000.' }),
  'clients?': Type.Array(ClientFigures, { description: 'One for each kind, the sum first.' }),
  'service?': ServiceFigures,
  'costs?': CostFigures,
  'control?': ControlFigures,
  'live?': LiveFigures,
  'comparison?': Comparison,
  'replications?': Replications,
  'compared?': ComparedRules,
  'notes?': Type.Array(Text('What a reader should know, for example that the overload was sustained.')),
  expectations: Type.Array(ExpectationOutcome),
  verdict: Verdict,
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$', description: 'Over everything that the seed determines.' }),
});

export type Outcome = Static<typeof Outcome>;
export type ContractOutcome = Static<typeof ContractOutcome>;
export type TransitionSeen = Static<typeof TransitionSeen>;
export type Quantiles = Static<typeof Quantiles>;
export type ClientFigures = Static<typeof ClientFigures>;
export type ServiceFigures = Static<typeof ServiceFigures>;
export type Reaction = Static<typeof Reaction>;
export type Replications = Static<typeof Replications>;
export type Difference = Static<typeof Difference>;
export type Comparison = Static<typeof Comparison>;
export type LiveFigures = Static<typeof LiveFigures>;
export type ExpectationOutcome = Static<typeof ExpectationOutcome>;
export type Verdict = Static<typeof Verdict>;
