// JSON documents that contain many requests: HAR and arrays of objects; and those that are not read.
//
//   {"log":{"version":"1.2","entries":[{"startedDateTime":"2015-05-17T10:05:03.123Z",...}]}}
//   [{"time":1431857103},{"time":1431857104}]        {"Records":[{"eventTime":"2015-05-17T10:05:03Z",...}]}
//
// Each becomes a list of JSON objects, which are read like the lines of NDJSON.
import { Failure } from '../../../core/schema/failure.js';
import { JsonWalk, locate, WantedField } from './json.js';
import type { FormatFacts } from './layout.js';
import { type LineReader, type LogReader, startsWithMark } from './lines.js';

export interface DocumentKind extends FormatFacts {
  readonly name: 'har' | 'json';
  /** Whether a text begins like this kind; its first object may be truncated. */
  readonly begins: (start: string) => boolean;
  /** Where its requests are; undefined: in its first array of objects. */
  readonly requestsAt: string | undefined;
}

export const documentKinds: readonly DocumentKind[] = [
  {
    name: 'har',
    moment: 'start',
    precision: 'ms',
    writer: 'browsers, HTTP archives',
    begins: (start) => /^\s*\{\s*"log"\s*:\s*\{\s*"(version|creator|browser|pages|entries|comment|_\w*)"/.test(start),
    requestsAt: 'log.entries',
  },
  {
    name: 'json',
    moment: 'any',
    precision: 'any',
    writer: 'an array of JSON objects; AWS CloudTrail',
    begins: (start) => /^\s*(\[\s*\{|\{\s*"[^"]*"\s*:|\{\s*$)/.test(start) && start.includes('['),
    requestsAt: undefined,
  },
];

const MAX_BYTES = 1 << 28;
const SAMPLED = 200;

export function documentReader(
  kind: DocumentKind,
  path: string,
  open: (records: readonly Buffer[]) => LineReader,
): LogReader {
  const chunks: Buffer[] = [];
  let length = 0;
  const reader = {
    lines: 0,
    /** @throws Failure `unreadable_file` beyond MAX_BYTES */
    push(chunk: Buffer): void {
      length += chunk.length;
      if (length > MAX_BYTES) {
        throw new Failure('unreadable_file', {
          what: `${path} cannot be read.`,
          why: `A HAR file, or another JSON text, has to be held in memory as a whole, and it is larger than ${MAX_BYTES >> 20} MiB.`,
          fix: "Make it one object a line with `jq -c '.log.entries[]'` or `jq -c '.[]'` and read that as ndjson.",
        });
      }
      chunks.push(Buffer.from(chunk));
    },
    /** @throws Failure `unknown_format` if it is broken or has no array of objects; as `chooseColumns` */
    end(): void {
      const text = Buffer.concat(chunks);
      chunks.length = 0;
      const records = recordsIn(text.subarray(startsWithMark(text, 0, text.length) ? 3 : 0), kind, path);
      if (records.length === 0) return;
      const lines = open(records.slice(0, SAMPLED));
      for (const record of records) lines.line(record, 0, record.length, ++reader.lines);
    },
  };
  return reader;
}

/** Raw bytes, since times must keep their digits. */
function recordsIn(text: Buffer, { requestsAt }: DocumentKind, path: string): readonly Buffer[] {
  const broken = (why: string) =>
    new Failure('unknown_format', {
      what: `${path} cannot be read as HAR or as an array of JSON objects.`,
      why,
      fix: 'Export it again, or make it one object a line with `jq -c`.',
    });
  const walk = new JsonWalk();
  const isObject = walk.enter(text, 0, text.length) && /^\s*\{/.test(text.toString('latin1', 0, 4096));
  if (isObject && !locate(walk, text, 0, text.length, [])) throw broken('It is not one whole JSON object.');
  const at = isObject ? arrayIn(text, requestsAt) : 0;
  if (at === undefined) throw broken('It has no array at log.entries, and none of objects elsewhere.');
  const found: Buffer[] = [];
  walk.enter(text, at, text.length);
  while (walk.next()) found.push(text.subarray(walk.valueFrom, walk.valueTo));
  if (walk.end < 0) throw broken(`Its entries cannot be read after the first ${found.length}.`);
  return found;
}

/** Start of the array at `path`, or of the first array of objects. */
function arrayIn(text: Buffer, path: string | undefined): number | undefined {
  const wanted = new WantedField(path ?? '');
  if (path !== undefined) locate(new JsonWalk(), text, 0, text.length, [wanted]);
  return wanted.from >= 0 && text[wanted.from] === OPEN_BRACKET ? wanted.from : firstArray(text, 0, text.length, 2);
}

function firstArray(text: Buffer, from: number, to: number, depth: number): number | undefined {
  const walk = new JsonWalk();
  walk.enter(text, from, to);
  while (walk.next()) {
    const first = text[walk.valueFrom];
    if (first === OPEN_BRACKET) {
      const inner = new JsonWalk();
      inner.enter(text, walk.valueFrom, walk.valueTo);
      if (inner.next() && text[inner.valueFrom] === OPEN_BRACE) return walk.valueFrom;
    } else if (first === OPEN_BRACE && depth > 0) {
      const found = firstArray(text, walk.valueFrom, walk.valueTo, depth - 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

// Log documents that are not read: the refusal names the line of jq that makes NDJSON of them.
//
//   {"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1431857103000000000","attributes":[...]}]}]}]}
//   {"data":{"resultType":"streams","result":[{"stream":{...},"values":[["1431857103000000000","GET /"],...]}]}}
//   {"data":{"resultType":"matrix","result":[{"metric":{...},"values":[[1431857103,"17"],...]}]}}

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

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
