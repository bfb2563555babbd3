// The seven steps of the story. Each text is a complete scenario with one adjustable number.

export interface StoryStep {
  readonly name: string;
  readonly title: string;
  readonly sentence: string;
  readonly tryThis: string;
  readonly control: string;
  readonly label: string;
  readonly by: number;
  readonly shows: 'window' | 'decisions' | 'behind';
  readonly text: string;
}

export const steps: readonly StoryStep[] = [
  {
    name: 'a-burst',
    title: 'A burst and a window',
    sentence:
      'The limiter counts the requests of the last ten seconds. Above twenty it closes, and it opens again when enough of them are older than that.',
    tryThis: 'Move the burst: below a rate of two a second nothing is ever refused.',
    control: 'arrivals.1.burst_rate',
    label: 'burst rate',
    by: 1,
    shows: 'window',
    text: `question: What does a window do with a burst?
seed: 1
duration: 40s
limiter: { threshold: 20, within: 10s }
arrivals:
  - { model: constant, rate: 1/s }
  - { model: burst, burst_rate: 6/s, at: 10s, for: 6s }
`,
  },
  {
    name: 'the-edge',
    title: 'Twice the limit at an edge',
    sentence:
      'A fixed window forgets everything at its edge. A burst just before the edge and one just after it both pass: twice the limit in a moment.',
    tryThis: 'Twenty is the limit of a window. Watch forty pass within a second at 10 s.',
    control: 'arrivals.0.requests',
    label: 'requests on each side',
    by: 1,
    shows: 'decisions',
    text: `question: How much passes at the edge of a fixed window?
seed: 1
cycle_ms: 500
duration: 20s
limiter: { primitive: fixed_window, params: { limit: 20, window_ms: 10000, align: epoch } }
arrivals:
  - { model: edge, requests: 20, within: 10s, placement: even }
`,
  },
  {
    name: 'a-bucket',
    title: 'A bucket',
    sentence:
      'A token bucket gains two tokens a second and holds at most twenty. Each request takes one, so a quiet time is saved up for the next burst.',
    tryThis: 'Make the bucket small: bursts are cut, and the same two a second still pass in the long run.',
    control: 'limiter.params.capacity',
    label: 'tokens that it holds',
    by: 1,
    shows: 'window',
    text: `question: What does a bucket do with bursts and pauses?
seed: 3
cycle_ms: 500
duration: 60s
limiter: { primitive: token_bucket, params: { rate: 2, per_ms: 1000, capacity: 20 } }
arrivals:
  - { model: onoff, on_rate: 8/s, off_rate: 0.5/s, on_for: 5s, off_for: 8s }
`,
  },
  {
    name: 'the-refused',
    title: 'What the refused do',
    sentence:
      'A refused client comes back. Rings are requests that were refused before: the same jobs make more and more requests, and the window counts each of them.',
    tryThis: 'With one attempt a job the limiter soon recovers. With six it stays closed far longer.',
    control: 'clients.0.max_attempts',
    label: 'attempts of a job',
    by: 1,
    shows: 'window',
    text: `question: What do retries do to a limiter that counts every request?
seed: 2
duration: 60s
limiter: { threshold: 30, within: 10s }
arrivals:
  - { model: poisson, rate: 2/s }
  - { model: burst, burst_rate: 8/s, at: 10s, for: 5s }
clients:
  - { kind: retrying, max_attempts: 6, backoff: { policy: fixed, base: 2s } }
control:
  name: without retries
  clients: [{ kind: open }]
`,
  },
  {
    name: 'too-early',
    title: 'Retry-After, a little too early',
    sentence:
      'Sixty clients do exactly as they are asked: they wait as long as Retry-After says. This limiter cuts it to whole seconds, so they come back just before the window ends, and are refused again.',
    tryThis:
      'No length of the window helps. A limiter that rounds the wait up does: each client then comes back twice at most.',
    control: 'limiter.duration',
    label: 'window, in ms',
    by: 500,
    shows: 'decisions',
    text: `question: What does a Retry-After cost that is cut to whole seconds?
seed: 7
cycle_ms: 100
duration: 40s
limiter: { like: koa-ratelimit, duration: 9500, max: 20 }
arrivals:
  - { model: spikes, requests: 60, at: 1s, placement: even }
clients:
  - { kind: obedient, max_attempts: 10 }
control:
  name: with the wait rounded up
  limiter: { like: express-rate-limit, windowMs: 9500, limit: 20 }
`,
  },
  {
    name: 'the-herd',
    title: 'The herd, and jitter',
    sentence:
      'Clients that were refused together wait equally long and come back together. A random extra wait, called jitter, spreads them out.',
    tryThis:
      'Raise the jitter to 40 s, a little more than the limiter needs for all of them: nearly all pass at their second attempt.',
    control: 'clients.0.jitter',
    label: 'jitter',
    by: 5,
    shows: 'decisions',
    text: `question: Does jitter break up a herd?
seed: 7
duration: 60s
limiter: gcra 3/s burst=30
arrivals:
  - { model: spikes, requests: 120, at: 2s }
clients:
  - { kind: obedient, max_attempts: 12, jitter: 0s }
control:
  name: with a jitter of 40 s
  clients: [{ kind: obedient, max_attempts: 12, jitter: 40s }]
`,
  },
  {
    name: 'the-storm',
    title: 'The storm that stays',
    sentence:
      'Ten seconds of overload fill the queue. Clients give up and try again at once, so the service works for requests that their clients have given up (grey), and stays overloaded long after its cause is gone.',
    tryThis:
      'One attempt a job ends the storm. So does a budget for retries, or a limiter in front: try them in the sandbox.',
    control: 'clients.0.max_attempts',
    label: 'attempts of a job',
    by: 1,
    shows: 'behind',
    text: `question: Does the service come back when the load falls?
seed: 7
duration: 100s
limiter: none
arrivals:
  - { model: poisson, rate: 5/s }
  - { model: poisson, rate: 15/s, from: 20s, to: 30s }
clients:
  - { kind: retrying, timeout: 500ms, max_attempts: 5, backoff: { policy: none } }
service: { servers: 1, time: { law: normal, mean: 100ms, deviation: 30ms } }
drain: 0
control:
  name: without the overload
  arrivals: [{ model: poisson, rate: 5/s }]
`,
  },
];
