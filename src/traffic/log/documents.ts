// JSON documents that contain many requests: HAR, arrays of objects, OpenTelemetry, results of Prometheus and Loki.
//
//   {"log":{"version":"1.2","entries":[{"startedDateTime":"2015-05-17T10:05:03.123Z",...}]}}
//   [{"time":1431857103},{"time":1431857104}]        {"Records":[{"eventTime":"2015-05-17T10:05:03Z",...}]}
//   {"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1431857103000000000",...}]}]}]}
//   {"status":"success","data":{"resultType":"matrix","result":[{"metric":{...},"values":[[1431857103,"17"],...]}]}}
//   {"status":"success","data":{"resultType":"streams","result":[{"stream":{...},"values":[["1431857103000000000","GET /"],...]}]}}
//
// Each becomes a list of JSON objects, which are read like the lines of NDJSON.
import { Failure } from '../../schema/failure.js';
import { MAX_SPREAD_MS } from '../spread.js';
import { JsonWalk, locate, WantedField } from './json.js';
import type { FormatFacts, KnownFields } from './layout.js';
import { type LineReader, type LogReader, startsWithMark } from './lines.js';

export interface DocumentKind extends FormatFacts {
  /** Whether a text begins like this kind; its first object may be truncated. */
  readonly begins: (start: string) => boolean;
  readonly mayRepeat: boolean;
  /** @throws Error with the reason, if the text is not of this kind */
  readonly records: (text: Buffer) => readonly Buffer[];
  readonly known: (records: readonly Buffer[]) => KnownFields;
}

export const documentKinds: readonly DocumentKind[] = [
  {
    name: 'har',
    moment: 'start',
    precision: 'ms',
    writer: 'browsers, HTTP archives',
    begins: (start) => /^\s*\{\s*"log"\s*:\s*\{\s*"(version|creator|browser|pages|entries|comment|_\w*)"/.test(start),
    mayRepeat: false,
    records: (text) => elements(text, 'log.entries'),
    known: () => ({}),
  },
  {
    name: 'otlp',
    moment: 'any',
    precision: 'ns',
    writer: 'OpenTelemetry logs, JSON',
    begins: (start) => /^\s*\{\s*"resourceLogs"\s*:/.test(start),
    mayRepeat: true,
    records: otlpRecords,
    known: () => ({ time: 'time', timeFrom: 'the time of each record', timeUnit: 'ns' }),
  },
  {
    name: 'loki',
    moment: 'any',
    precision: 'ns',
    writer: 'Loki, query_range and push',
    begins: (start) => /^\s*\{.*"stream"\s*:\s*\{.*"values"\s*:\s*\[\s*\[\s*"\d{19}"/s.test(start),
    mayRepeat: true,
    records: lokiRecords,
    known: () => ({ time: 'time', timeFrom: 'the time of each entry', timeUnit: 'ns' }),
  },
  {
    name: 'prometheus',
    moment: 'start',
    precision: 'any',
    writer: 'Prometheus, query_range',
    begins: (start) => /^\s*\{.*"metric"\s*:\s*\{.*"values"\s*:\s*\[\s*\[\s*[\d.e+]+\s*,\s*"/s.test(start),
    mayRepeat: true,
    records: prometheusRecords,
    known: prometheusKnown,
  },
  {
    name: 'json',
    moment: 'any',
    precision: 'any',
    writer: 'an array of JSON objects; AWS CloudTrail',
    begins: (start) => /^\s*(\[\s*\{|\{\s*"[^"]*"\s*:|\{\s*$)/.test(start) && start.includes('['),
    mayRepeat: false,
    records: (text) => elements(text, undefined),
    known: () => ({}),
  },
];

class Broken extends Error {}

const MAX_BYTES = 1 << 28;
const SAMPLED = 200;

export class DocumentReader implements LogReader {
  lines = 0;
  readonly #kind: DocumentKind;
  readonly #path: string;
  readonly #open: (records: readonly Buffer[]) => LineReader;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(kind: DocumentKind, path: string, open: (records: readonly Buffer[]) => LineReader) {
    this.#kind = kind;
    this.#path = path;
    this.#open = open;
  }

  /** @throws Failure `unreadable_file` beyond MAX_BYTES */
  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > MAX_BYTES) {
      throw new Failure('unreadable_file', {
        what: `${this.#path} cannot be read.`,
        why: `A HAR file, or another JSON text, has to be held in memory as a whole, and it is larger than ${MAX_BYTES >> 20} MiB.`,
        fix: "Make it one object a line with `jq -c '.log.entries[]'` or `jq -c '.[]'` and read that as ndjson.",
      });
    }
    this.#chunks.push(Buffer.from(chunk));
  }

  /** @throws Failure `unknown_format` if it is broken or has no array of objects; as `chooseColumns` */
  end(): void {
    const text = Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    const records = this.#records(text.subarray(startsWithMark(text, 0, text.length) ? 3 : 0));
    if (records.length === 0) return;
    const reader = this.#open(records.slice(0, SAMPLED));
    for (const record of records) reader.line(record, 0, record.length, ++this.lines);
  }

  #records(text: Buffer): readonly Buffer[] {
    try {
      return this.#kind.records(text);
    } catch (error) {
      throw new Failure('unknown_format', {
        what: `${this.#path} cannot be read as ${this.#kind.name === 'har' || this.#kind.name === 'json' ? 'HAR or as an array of JSON objects' : this.#kind.name}.`,
        why: error instanceof Broken ? error.message : 'It is cut, or its parts are not where they belong.',
        fix: 'Export it again, or make it one object a line with `jq -c`.',
      });
    }
  }
}

export function eachLine(kind: DocumentKind, reader: LineReader): LineReader {
  return {
    line: (bytes, from, to, number) => {
      const records = recordsIn(kind, bytes.subarray(from, to));
      if (records.length === 0) reader.line(bytes, from, to, number);
      for (const record of records) reader.line(record, 0, record.length, number);
    },
    end: () => reader.end(),
  };
}

export function recordsIn(kind: DocumentKind, line: Buffer): readonly Buffer[] {
  try {
    return kind.records(line);
  } catch {
    return [];
  }
}

/** Elements of the array at `path`, or of the first array of objects; raw bytes, since times must keep their digits. */
function elements(text: Buffer, path: string | undefined): readonly Buffer[] {
  const walk = new JsonWalk();
  const isObject = walk.enter(text, 0, text.length) && /^\s*\{/.test(text.toString('latin1', 0, 4096));
  if (isObject && !locate(walk, text, 0, text.length, [])) throw new Broken('It is not one whole JSON object.');
  const at = isObject ? arrayIn(text, path) : 0;
  if (at === undefined) throw new Broken('It has no array at log.entries, and none of objects elsewhere.');
  const found: Buffer[] = [];
  walk.enter(text, at, text.length);
  while (walk.next()) found.push(text.subarray(walk.valueFrom, walk.valueTo));
  if (walk.end < 0) throw new Broken(`Its entries cannot be read after the first ${found.length}.`);
  return found;
}

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

interface Attribute {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

/** https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: 64-bit integers are strings; time 0 is unknown. */
function otlpRecords(text: Buffer): readonly Buffer[] {
  return list(parse(text)['resourceLogs']).flatMap(({ resource, scopeLogs }) =>
    list(scopeLogs).flatMap(({ logRecords }) =>
      list(logRecords).map(({ timeUnixNano, observedTimeUnixNano, attributes, body, ...record }) =>
        written({
          ...record,
          ...attributesOf((resource as { attributes?: unknown } | undefined)?.attributes),
          ...attributesOf(attributes),
          body: anyValue(body),
          time: Number(timeUnixNano) > 0 ? timeUnixNano : observedTimeUnixNano,
        }),
      ),
    ),
  );
}

function attributesOf(attributes: unknown): Record<string, unknown> {
  return Object.fromEntries(
    (list(attributes) as unknown as Attribute[]).map(({ key, value }) => [key, anyValue(value)]),
  );
}

/** The value of an AnyValue: `{"stringValue":"a"}`, `{"intValue":"7"}`, `{"kvlistValue":{"values":[...]}}`. */
function anyValue(any: unknown): unknown {
  const [kind, value] = Object.entries((any ?? {}) as Record<string, unknown>)[0] ?? [];
  return kind === 'kvlistValue' ? attributesOf((value as { values?: unknown }).values) : value;
}

/** https://grafana.com/docs/loki/latest/reference/loki-http-api/: an entry is its time in ns and its line. */
function lokiRecords(text: Buffer): readonly Buffer[] {
  const { data, streams } = parse(text);
  return list(streams ?? (data as { result?: unknown } | undefined)?.result).flatMap(({ stream, values }) =>
    (values as [string, string][]).map(([time, line]) => written({ ...(stream as object), time, line })),
  );
}

const COUNTER = /_(total|count)$/;

/**
 * https://prometheus.io/docs/prometheus/latest/querying/api/#range-vectors: a sample is a time in s and a string value.
 * A counter grows by the requests between two samples and restarts at 0. A query such as increase() has no name.
 *
 *   100 at 0 s, 130 at 15 s, 20 at 30 s       30 requests from 0 s on, 20 from 15 s on
 */
function prometheusRecords(text: Buffer): readonly Buffer[] {
  const { result } = parse(text)['data'] as { result: unknown };
  return list(result).flatMap(({ metric, values }) => {
    const labels = metric as Readonly<Record<string, string>>;
    const samples = (values as [number, string][])
      .map(([at, value]) => ({ ms: Math.round(at * 1000), value: Number(value) }))
      .filter(({ value }) => !Number.isNaN(value));
    const stepMs = stepOf(samples.map(({ ms }) => ms));
    if (!COUNTER.test(labels['__name__'] ?? '')) {
      return samples.map(({ ms, value }) =>
        written({ ...labels, value: Math.round(value), time: ms - stepMs, stepMs }),
      );
    }
    return samples.slice(1).map(({ value }, i) => {
      const { ms, value: before } = samples[i]!;
      return written({ ...labels, requests: Math.round(value >= before ? value - before : value), time: ms, stepMs });
    });
  });
}

function stepOf(times: readonly number[]): number {
  return times
    .slice(1)
    .reduce((least, ms, i) => Math.min(least, ms - times[i]!), times.length < 2 ? 1000 : MAX_SPREAD_MS);
}

function prometheusKnown(records: readonly Buffer[]): KnownFields {
  const first = records[0] === undefined ? {} : parse(records[0]);
  const spreadMs = Math.max(0, Number(first['stepMs'] ?? 1000));
  const seconds = spreadMs / 1000;
  const known: KnownFields = { time: 'time', timeFrom: 'the time of each sample', timeUnit: 'ms', spreadMs };
  if ('requests' in first) {
    const what = `The values are totals of a counter: what it grew by is spread over the ${seconds} s between two samples.`;
    return { ...known, count: 'requests', warning: { code: 'counter', what } };
  }
  return {
    ...known,
    warning: {
      code: 'no_counter',
      what: `Each value counts the requests of the ${seconds} s before it, rounded and spread over them.`,
    },
    unclearCount: {
      why: 'A query without a name of a counter may give numbers of requests, or requests a second.',
      fix: 'Query the counter itself (http_requests_total), or increase() over the step and say --count value.',
    },
  };
}

function parse(text: Buffer): Record<string, unknown> {
  return JSON.parse(text.toString()) as Record<string, unknown>;
}

function list(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

function written(record: object): Buffer {
  return Buffer.from(JSON.stringify(record));
}

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
