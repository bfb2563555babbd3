// Unwraps what a log collector adds to each line. The inner line is read like any other.
//
//   Feb  6 12:14:14 web1 nginx[14389]: 192.0.2.1 - - [06/Feb/2009:12:14:14 +0000] "GET / HTTP/1.1" 200 12
//   |------- envelope: syslog --------||------------------- the line: combined -------------------------|

import { timeFieldsIn } from './columns.js';
import { ZONE_TEXT } from './instant.js';
import { textIn } from './json.js';
import { Field, fieldsWhere, type Layout, mostly } from './layout.js';
import { everyLine, messageCutter } from './pattern.js';

const ISO = `\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?: ?${ZONE_TEXT})?`;
const BSD = '[A-Z][a-z]{2} [ \\d]\\d (?:\\d{4} )?\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?';
const COLOUR = '(?:\\x1b\\[[\\d;]*m)*';
const RFC_5424_DATA = '(?:-|(?:\\[(?:[^\\]"\\\\]|"(?:[^"\\\\]|\\\\.)*"|\\\\.)*\\])+)';

interface Envelope {
  readonly name: string;
  readonly pattern: RegExp;
}

const envelope = (name: string, pattern: string): Envelope => ({ name, pattern: new RegExp(`^${pattern}`) });

const envelopes: readonly Envelope[] = [
  // web-1  | 192.0.2.1 - - [...
  envelope('docker compose', `${COLOUR}(?!\\d+(?:\\.\\d+){3}\\s)(?<program>[\\w./-]+)\\s*\\|${COLOUR}\\s`),
  // Kubernetes:  2016-10-06T00:17:09.669794202Z stdout F 192.0.2.1 - - [...
  envelope('CRI', `(?<time>${ISO}) (?:stdout|stderr) (?<part>[FP])(?::\\w+)* `),
  // kubectl logs --prefix:  [pod/web-7c5/nginx] 192.0.2.1 - - [...
  envelope('kubectl', '\\[pod/(?<program>[^\\]\\s]+)\\] '),
  // RFC 5424, which Heroku's drains write without data:  <13>1 2015-05-17T10:05:03.123Z web1 nginx 14389 - - 192.0.2.1 - - [...
  envelope(
    'syslog',
    `(?:\\d+ )?<\\d{1,3}>1 (?<time>${ISO}|-) (?<host>\\S+) (?<program>\\S+) \\S+ \\S+(?: ${RFC_5424_DATA})?(?: (?:\\xef\\xbb\\xbf)?|$)`,
  ),
  // RFC 3164, journalctl in its short forms:  <34>May 17 10:05:03 web1 nginx[14389]: 192.0.2.1 - - [...
  envelope(
    'syslog',
    `(?:<\\d{1,3}>)?(?:[A-Z][a-z]{2} (?=\\d{4}-))?(?<time>${BSD}|${ISO}|\\d{10}\\.\\d{6}) (?<host>[^\\s:\\[]+) (?<program>[^\\s:\\[]+)(?:\\[[^\\]]*\\])?: ?`,
  ),
  // Without a host, as to a local socket:  <34>May 17 10:05:03 nginx[14389]: 192.0.2.1 - - [...
  envelope('syslog', `(?:<\\d{1,3}>)?(?<time>${BSD}) (?<program>[^\\s:\\[]+)(?:\\[[^\\]]*\\])?: ?`),
  // Logger of Ruby:  I, [2015-05-17T10:05:03.123456 #7]  INFO -- : method=GET path=/a status=200
  envelope('Ruby logger', `[A-Z], \\[(?<time>${ISO}) #\\d+\\] +[A-Z]+ -- [^:]*: `),
  // Caddy and others with zap on a terminal:  2015/05/17 10:05:03.123⇥info⇥http.log.access⇥handled request⇥{"request": …
  envelope(
    'Caddy console',
    `(?<time>\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d+|${ISO})\\t${COLOUR}[A-Za-z]+${COLOUR}\\t(?<program>\\S+)\\t(?:[^\\t{]*\\t){1,2}`,
  ),
  // Heroku, docker logs -t:  2015-05-17T10:05:03.123456789Z 192.0.2.1 - - [...
  envelope('timestamps', `(?<time>${ISO}) (?:(?<program>\\w+\\[[\\w.-]+\\]): )?`),
];

const MAX_ENVELOPE_BYTES = 2048;

function match({ pattern }: Envelope, bytes: Buffer, from: number, to: number): RegExpExecArray | null {
  return pattern.exec(bytes.toString('latin1', from, Math.min(to, from + MAX_ENVELOPE_BYTES)));
}

export function envelopesOf(lines: readonly Buffer[]): readonly Envelope[] {
  return envelopes.filter((one) => mostly(lines, (line) => match(one, line, 0, line.length) !== null));
}

export function without(one: Envelope, lines: readonly Buffer[]): Buffer[] {
  return lines.map((line) => line.subarray(match(one, line, 0, line.length)?.[0].length ?? 0));
}

export const ENVELOPE_TIME = 'log_time';

export function enveloped(one: Envelope, inner: Layout, lines: readonly Buffer[]): Layout {
  return {
    ...inner,
    envelope: inner.envelope === undefined ? one.name : `${inner.envelope} in ${one.name}`,
    names: [...inner.names, ...(one.pattern.source.includes('<time>') ? [ENVELOPE_TIME] : [])],
    lines,
    cutter: (fields) => {
      const within = inner.cutter(fields);
      const envelopeTime = fields.get(ENVELOPE_TIME);
      let held: Buffer | undefined;
      return {
        get unixMs() {
          return within.unixMs;
        },
        cut: (bytes, from, to) => {
          const found = match(one, bytes, from, to);
          const { part, time } = found?.groups ?? {};
          const rest = bytes.subarray(from + (found?.[0].length ?? 0), to);
          const line = held === undefined ? rest : Buffer.concat([held, rest]);
          held = part === 'P' ? Buffer.from(line) : undefined;
          if (part === 'P') return '';
          const reason = within.cut(line, 0, line.length);
          if (time !== undefined) envelopeTime?.setText(time);
          return reason;
        },
      };
    },
  };
}

/** Lines of which only the envelope is known, as in auth.log: each is a request of the first address in it. */
export function envelopeAlone(lines: readonly Buffer[]): Layout | undefined {
  const found = envelopes.find((one) =>
    mostly(lines, (line) => {
      const { program, time } = match(one, line, 0, line.length)?.groups ?? {};
      return program !== undefined && time !== undefined;
    }),
  );
  if (found === undefined) return undefined;
  const pattern = new RegExp(`${found.pattern.source}(?<message>.*)$`, 's');
  return {
    format: 'syslog',
    noun: 'field',
    names: ['time', 'host', 'program', 'client', 'user', 'message'],
    lines,
    cutter: (fields) => messageCutter(pattern, 'not a line of the format syslog', fields),
    known: {
      time: 'time',
      fields: { client: 'client' },
      clientFrom: 'the first address in each message',
      warning: everyLine("--where program=NAME or --where 'message=*text*'"),
    },
  };
}

/** Fields of a collector's objects that hold the line: docker's json-file, journald, Loki, OpenTelemetry, Filebeat and others, GCP, Graylog, Splunk. */
export const lineFields = 'log MESSAGE line body message textPayload short_message _raw result._raw'.split(' ');

/** Empty unless most objects have a line. */
export function linesIn(objects: readonly Buffer[], field: string): Buffer[] {
  const texts = objects.map((line) => textIn(line, field)?.trimEnd() ?? '').filter((text) => text !== '');
  return texts.length * 2 > objects.length ? texts.map((text) => Buffer.from(text)) : [];
}

/** What the collector adds may be named like a field of a request, as its host: it is listed only if a time is missing within. */
export function jsonEnveloped(objects: Layout, field: string, inner: Layout): Layout {
  const isWhole = timeFieldsIn(inner, undefined) !== undefined;
  return {
    ...inner,
    envelope: objects.format === 'ndjson' ? 'json' : objects.format,
    names: isWhole ? inner.names : [...inner.names, ...objects.names.filter((name) => !inner.names.includes(name))],
    lines: objects.lines,
    cutter: (fields) => {
      const isInner = (name: string) => inner.names.includes(name);
      const outer = fieldsWhere(fields, (name) => !isInner(name));
      const line = outer.get(field) ?? new Field();
      const outerCutter = objects.cutter(new Map([...outer, [field, line]]));
      const innerCutter = inner.cutter(fieldsWhere(fields, isInner));
      return {
        get unixMs() {
          return innerCutter.unixMs;
        },
        cut: (bytes, from, to) => {
          line.clear();
          const reason = outerCutter.cut(bytes, from, to);
          if (reason !== undefined) return reason;
          let end = line.to;
          while (end > line.from && line.bytes[end - 1]! <= 0x20) end--;
          return innerCutter.cut(line.bytes, line.from, end);
        },
      };
    },
  };
}
