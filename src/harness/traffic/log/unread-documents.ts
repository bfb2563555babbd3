// Log documents that are not read: the refusal names the line of jq that makes NDJSON of them.
//
//   {"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1431857103000000000","attributes":[...]}]}]}]}
//   {"data":{"resultType":"streams","result":[{"stream":{...},"values":[["1431857103000000000","GET /"],...]}]}}
//   {"data":{"resultType":"matrix","result":[{"metric":{...},"values":[[1431857103,"17"],...]}]}}
import { Failure } from '../../../core/schema/failure.js';

interface UnreadDocument {
  readonly name: string;
  readonly title: string;
  readonly begins: RegExp;
  /** A filter of jq. */
  readonly filter: string;
  readonly hint?: string;
}

const unreadDocuments: readonly UnreadDocument[] = [
  {
    // https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: 64-bit integers are strings; time 0 is unknown.
    name: 'otlp',
    title: 'an OTLP document of OpenTelemetry',
    begins: /^\s*\{\s*"resourceLogs"\s*:/,
    filter:
      'def o: map({key, value: (.value | if .kvlistValue then .kvlistValue.values | o else .[]? end)}) | from_entries; ' +
      '.resourceLogs[] | .resource.attributes as $r | .scopeLogs[].logRecords[] | ' +
      '($r + .attributes + [{key: "body", value: .body}] | o) + {time: ((.timeUnixNano | select(. != "0")) // .observedTimeUnixNano)}',
  },
  {
    // https://grafana.com/docs/loki/latest/reference/loki-http-api/: an entry is its time in ns and its line.
    name: 'loki',
    title: 'a document of Loki',
    begins: /^\s*\{.*"stream"\s*:\s*\{.*"values"\s*:\s*\[\s*\[\s*"\d{19}"/s,
    filter: '(.data.result // .streams)[] | .stream + (.values[] | {time: .[0], line: .[1]})',
  },
  {
    // https://prometheus.io/docs/prometheus/latest/querying/api/#range-vectors: a sample is a time in s and a string value.
    // A counter restarts at 0. Functions drop the name of a metric: what they give is taken as increase() over the step.
    name: 'prometheus',
    title: 'a query_range document of Prometheus',
    begins: /^\s*\{.*"metric"\s*:\s*\{.*"values"\s*:\s*\[\s*\[\s*[\d.e+]+\s*,\s*"/s,
    filter:
      '.data.result[] | .metric as $m | .values | map([.[0], (.[1] | tonumber)]) | [.[:-1], .[1:]] | transpose[] | . as [$a, $b] | ' +
      '$m + {time: $a[0], requests: ($b[1] - if $m.__name__ and $b[1] >= $a[1] then $a[1] else 0 end | round)}',
    hint: 'Its values are to be those of a counter, or of increase() over the step. Give the step with --count requests/15s.',
  },
];

/** @throws Failure `unknown_format` if a log begins like such a document, or is named as one */
export function refuseUnread(path: string, { name, start }: { readonly name?: string; readonly start?: string }): void {
  const found = unreadDocuments.find((one) => one.name === name || (start !== undefined && one.begins.test(start)));
  if (found === undefined) return;
  throw new Failure('unknown_format', {
    what: `${path} is ${found.title}, which is not read.`,
    why: 'JSON is read as one object a line, as an array of objects, or as HAR.',
    fix: `Make it one object a line with \`jq -c '${found.filter}'\`.${found.hint === undefined ? '' : ` ${found.hint}`}`,
  });
}
