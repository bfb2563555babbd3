// Names of 0.2 that are gone: a command line with one of them ends with exit code 2 and says what to use.

const commands: Readonly<Record<string, string>> = {
  map: 'It is `weir sweep --map` since 0.3.',
  generate: 'It is `weir simulate --log FILE` since 0.3; `--log -` writes to standard output.',
  explain: 'It is `weir limiter` since 0.3: weir limiter nginx 10r/s burst=5.',
  limiters: 'It is `weir limiter` without an argument since 0.3.',
  decide: 'It is `weir limiter … -` since 0.3: weir limiter nginx 10r/s - < requests.ndjson.',
  'rotate-key': 'Start the node with `weir serve --rotate-key`.',
  up: 'Start nodes with `weir serve --store redis://…` (`weir help network`), or all in containers with `docker compose up`.',
};

const LIMIT = "It is --limit since 0.3: --limit 'nginx 10r/s burst=5', or --limit with a file.";

/** What to use instead of an option, by its name; where commands differ, by the name of the command. */
const options: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  'accept-lost-rows': 'It is --allow lost-rows since 0.3.',
  across: 'It is the first --set with --map since 0.3.',
  all: 'It is `weir node machine delete` since 0.3.',
  'allow-remote': 'It is --allow remote since 0.3.',
  'allow-unpinned': 'Say --pin none.',
  'allow-unsigned': 'It is --allow unsigned since 0.3.',
  'base-cycle': 'It is --cycle since 0.3.',
  chart: 'It is --out since 0.3: --out limiters.png.',
  contract: 'Name the contract after the machine.',
  'count-column': 'It is --count since 0.3: --count n, or --count n/60s to spread them.',
  credential: 'Give the API key as WEIR_KEY in the environment.',
  cycles: { 'node active': 'It is --within since 0.3.', 'node follow': 'Say --type cycle.' },
  days: 'It is --for since 0.3: --for 30d.',
  end: 'Say `weir node session end`.',
  events: 'It is --count since 0.3.',
  'fail-on-worse': 'Leave it out: a run that is worse than the --baseline ends with exit code 1.',
  fit: "It is a word of --limit since 0.3: --limit 'nginx burst=20 rate=1r/s..50r/s:1r/s'.",
  floor: 'Say it with --tolerance: 5%+2 is 5 % and 2 more, in the unit of the figure.',
  for: {
    'node event': 'It is --client since 0.3.',
    'node follow': 'It is --client since 0.3.',
    'node gate': 'It is --client since 0.3.',
  },
  format: {
    report:
      'The end of a file name says the format: --out summary.md, runs.csv, junit.xml, page.html, chart.png; --json prints JSON.',
    '*': 'It is --log-format since 0.3.',
  },
  key: { verify: 'It is --pin since 0.3.', '*': 'Give the API key as WEIR_KEY in the environment.' },
  gate: 'It is --set since 0.3: --set gate.key.header=X-Api-Key.',
  'grpc-limits': 'It is --limit since 0.3.',
  'hash-keys': 'It is --set keyed.store_keys=hashed since 0.3.',
  hold: 'It is --for since 0.3.',
  input: 'It is --set since 0.3: --set S=100.',
  insecure: 'It is --allow plain-http since 0.3.',
  'keep-deleted': 'It is --keep deleted=30 since 0.3.',
  'keep-rows': 'It is --keep rows=1000000 since 0.3.',
  'key-column': 'It is --key since 0.3.',
  keys: 'It is --top since 0.3.',
  limit: {
    serve: 'It is --bound since 0.3.',
    'node active': 'It is --top since 0.3.',
    'node keys list': 'It is --top since 0.3.',
    'node machine list': 'It is --top since 0.3.',
    'node machine show': 'It is --top since 0.3.',
  },
  limiting: '`weir node contracts` lists those that limit first.',
  list: '`weir help scenarios` lists them.',
  'log-requests': 'Say --log-level requests.',
  made: 'Leave it out: a limiter is made at the first request.',
  memory: 'It is --store memory since 0.3.',
  mermaid: 'It is --as mermaid since 0.3.',
  'metrics-port': 'It is --metrics PORT since 0.3.',
  mint: 'It is --bound mint=10 since 0.3, or --bound mint=off.',
  'near-limit': 'It is --set near_limit=0.8 since 0.3.',
  'no-keep': 'Say --out none.',
  'no-report': 'Say --out none.',
  'node-key': 'Copy the node.json of the node beside the backup: FILE.node.json.',
  only: { 'self-test': 'Name the check: weir self-test fixed-window.', '*': 'It is --type since 0.3.' },
  overlap: 'It is --keep since 0.3.',
  'open-metrics': 'Say --metrics open.',
  operator: 'Name the operators: weir node shift KO42.',
  over: 'It is the first --set with --find since 0.3.',
  overflow: 'It is --set keyed.overflow=share since 0.3.',
  plan: 'Leave it out: the number of cells is said before the first run.',
  remove: 'It is `weir node change … --set candidate=null` since 0.3.',
  public: 'It is --set is_public=true since 0.3.',
  report: 'Leave it out: a report is written unless --out is none.',
  resolution: {
    identify: 'Leave it out: times are found to a hundredth of their length.',
    sweep: 'It is the step of the range: --set limiter.threshold=50..500:10.',
  },
  rounds: 'Leave it out: the median of three rounds counts.',
  sampling: 'Leave it out: samples are a Latin hypercube.',
  'save-checkpoint': 'It is --out since 0.3.',
  schema: 'It is in the package: @weir/cli/schema/scenario.schema.json.',
  search: 'Search the list with grep.',
  seconds: 'It is --for since 0.3: --for 3s.',
  shadow: 'It is --set shadow=true since 0.3.',
  spread: 'It follows the column of --count since 0.3: --count n/60s, or /60s alone.',
  start: 'Leave it out: the log of `weir simulate --log` begins with 2026.',
  stdin: 'Say - after the limiter.',
  steps: 'It is --count since 0.3.',
  strict: 'Leave it out: --json has the warnings of a log in read.warnings.',
  stuck: 'It is --find with --map since 0.3.',
  theme: 'Leave it out: the picture is light.',
  threads: 'It is --workers since 0.3: --workers 4.',
  'time-column': 'It is --time since 0.3.',
  'time-unit': 'It follows the column of --time since 0.3: --time ts:ms, or :ms alone.',
  top: { recommend: 'Leave it out: 20 clients are listed.' },
  trace: 'It is --inspect since 0.3.',
  up: 'It is the second --set with --map since 0.3.',
  'url-path': 'Write it after {url}: -- curl {url}/v1/items.',
  until: 'It is --for since 0.3.',
  verify: 'Say `weir verify` with the exported file.',
  'when-away': 'It is --set when_away=open since 0.3.',
  xstate: 'It is --as xstate since 0.3.',
  rule: LIMIT,
  like: LIMIT,
  primitive: "It is --limit since 0.3: --limit 'gcra 10/s burst=20'.",
  params: "They are words of --limit since 0.3: --limit 'gcra T_ms=100 tau_ms=900'.",
  paste: "It is --limit since 0.3: --limit 'limit_req_zone …; limit_req …;', or --limit nginx.conf.",
  location: "It is a part of --limit since 0.3: --limit 'nginx.conf at location /api'.",
  policy: 'It is --limit since 0.3: --limit old.yaml --limit new.yaml.',
  definition: {
    'node inspect': 'It is --as definition since 0.3.',
    '*': 'It is --limit since 0.3: --limit contract.json.',
  },
  threshold: { recommend: 'Leave it out: the report has a slider over all thresholds.' },
  url: { replay: 'It is --live=URL since 0.3.' },
};

/** What to use instead of a command of 0.2; undefined for any other word. */
export function formerCommand(word: string): string | undefined {
  return Object.hasOwn(commands, word) ? commands[word] : undefined;
}

/** What to use instead of an option of 0.2; undefined for any other. */
export function formerOption(command: string, option: string): string | undefined {
  const found = Object.hasOwn(options, option) ? options[option] : undefined;
  return typeof found === 'object' ? (found[command] ?? found['*']) : found;
}
