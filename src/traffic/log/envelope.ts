// What a log collector writes around each line of a log. The line within is read as if it stood alone.
//
//   Feb  6 12:14:14 web1 nginx[14389]: 192.0.2.1 - - [06/Feb/2009:12:14:14 +0000] "GET / HTTP/1.1" 200 12
//   |------- envelope: syslog --------||------------------- the line: combined -------------------------|

import { isObject, textIn } from './format/json.js';
import { setFirstAddress } from './format/timed-lines.js';
import { type Cutter, Field, type Known, type Layout, mostly } from './layout.js';

export interface Envelope {
  readonly name: string;
  /** Matches an envelope at the start of a line; may name its `time`, `host`, `program` and `part` (P: the line goes on). */
  readonly pattern: RegExp;
}

const ISO = '\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?: ?(?:Z|UTC|[+-]\\d\\d:?\\d\\d))?';
const BSD = '[A-Z][a-z]{2} [ \\d]\\d (?:\\d{4} )?\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?';

const COLOUR = '(?:\\x1b\\[[\\d;]*m)*';

const envelopes: readonly Envelope[] = [
  // docker compose logs:  web-1  | 192.0.2.1 - - [...
  { name: 'docker compose', pattern: new RegExp(`^${COLOUR}(?<program>[\\w./-]+)\\s*\\|${COLOUR}\\s`) },
  // Kubernetes CRI:  2016-10-06T00:17:09.669794202Z stdout F 192.0.2.1 - - [...
  { name: 'CRI', pattern: new RegExp(`^(?<time>${ISO}) (?:stdout|stderr) (?<part>[FP])(?::\\w+)* `) },
  // kubectl logs --prefix:  [pod/web-7c5/nginx] 192.0.2.1 - - [...
  { name: 'kubectl', pattern: /^\[pod\/(?<program>[^\]\s]+)\] / },
  // RFC 5424:  <13>1 2015-05-17T10:05:03.123Z web1 nginx 14389 - - 192.0.2.1 - - [...
  {
    name: 'syslog',
    pattern: new RegExp(
      `^(?:\\d+ )?<\\d{1,3}>1 (?<time>${ISO}|-) (?<host>\\S+) (?<program>\\S+) \\S+ \\S+ (?:-|(?:\\[(?:[^\\]"\\\\]|"(?:[^"\\\\]|\\\\.)*"|\\\\.)*\\])+)(?: (?:\\xef\\xbb\\xbf)?|$)`,
    ),
  },
  // RFC 3164, journalctl in its short forms:  <34>May 17 10:05:03 web1 nginx[14389]: 192.0.2.1 - - [...
  {
    name: 'syslog',
    pattern: new RegExp(
      `^(?:<\\d{1,3}>)?(?:[A-Z][a-z]{2} (?=\\d{4}-))?(?<time>${BSD}|${ISO}|\\d{10}\\.\\d{6}) (?<host>[^\\s:\\[]+) (?<program>[^\\s:\\[]+)(?:\\[[^\\]]*\\])?: ?`,
    ),
  },
  // Without a host, as to a local socket:  <34>May 17 10:05:03 nginx[14389]: 192.0.2.1 - - [...
  {
    name: 'syslog',
    pattern: new RegExp(`^(?:<\\d{1,3}>)?(?<time>${BSD}) (?<program>[^\\s:\\[]+)(?:\\[[^\\]]*\\])?: ?`),
  },
  // Heroku, docker logs -t:  2015-05-17T10:05:03.123456789Z 192.0.2.1 - - [...
  { name: 'timestamps', pattern: new RegExp(`^(?<time>${ISO}) (?:(?<program>\\w+\\[[\\w.-]+\\]): )?`) },
];

/** The envelope of most of the lines. */
export function envelopesOf(lines: readonly Buffer[]): readonly Envelope[] {
  return envelopes.filter(({ pattern }) => mostly(lines, (line) => pattern.test(headOf(line, 0, line.length))));
}

/** How long an envelope may be. */
const MAX_ENVELOPE_BYTES = 2048;

function headOf(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('latin1', from, Math.min(to, from + MAX_ENVELOPE_BYTES));
}

/** The lines without the envelope; those that have none as they are. */
export function without({ pattern }: Envelope, lines: readonly Buffer[]): Buffer[] {
  return lines.map((line) => line.subarray(pattern.exec(headOf(line, 0, line.length))?.[0].length ?? 0));
}

/** The time of the envelope, among the fields of the line within. */
const TIME = 'log_time';

/** The layout of the lines with their envelope, by that of the lines within. */
export function enveloped({ name, pattern }: Envelope, inner: Layout, lines: readonly Buffer[]): Layout {
  const hasTime = pattern.source.includes('<time>');
  return {
    ...inner,
    envelope: inner.envelope === undefined ? name : `${inner.envelope} in ${name}`,
    names: [...inner.names, ...(hasTime ? [TIME] : [])],
    lines,
    cutter: (names, fields) => new EnvelopeCutter(pattern, names, fields, inner),
  };
}

class EnvelopeCutter implements Cutter {
  readonly #pattern: RegExp;
  readonly #inner: Cutter;
  readonly #time: Field | undefined;
  /** The start of a line of which the end has not come. */
  #held: Buffer | undefined;

  constructor(pattern: RegExp, names: readonly string[], fields: readonly Field[], inner: Layout) {
    this.#pattern = pattern;
    this.#inner = inner.cutter(names, fields);
    this.#time = fields[names.indexOf(TIME)];
  }

  get unixMs(): number | undefined {
    return this.#inner.unixMs;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    const match = this.#pattern.exec(headOf(bytes, from, to));
    const start = from + (match?.[0].length ?? 0);
    if (match?.groups?.['part'] === 'P') {
      this.#held = Buffer.concat([this.#held ?? EMPTY, bytes.subarray(start, to)]);
      return '';
    }
    const whole = this.#held === undefined ? undefined : Buffer.concat([this.#held, bytes.subarray(start, to)]);
    this.#held = undefined;
    const reason = whole === undefined ? this.#inner.cut(bytes, start, to) : this.#inner.cut(whole, 0, whole.length);
    const time = match?.groups?.['time'];
    if (time !== undefined) this.#time?.set(Buffer.from(time, 'latin1'), 0, time.length);
    return reason;
  }
}

const EMPTY = Buffer.alloc(0);

/** Lines of which only the envelope is known, as of auth.log: each is a request of the first address in it. */
export function envelopeAlone(lines: readonly Buffer[]): Layout | undefined {
  const envelope = envelopesOf(lines).find(
    ({ pattern }) => pattern.source.includes('<program>') && pattern.source.includes('<time>'),
  );
  if (envelope === undefined) return undefined;
  const known: Known = {
    time: 'time',
    client: 'client',
    clientFrom: 'the first address in each message',
    warning: {
      code: 'every_line',
      what: "Every line counts as a request, whatever it says. Choose with --where program=NAME or --where 'message=*text*'.",
    },
  };
  return {
    format: 'syslog',
    noun: 'field',
    names: ['time', 'host', 'program', 'client', 'user', 'message'],
    lines,
    cutter: (names, fields) => new MessageCutter(envelope.pattern, names, fields),
    known,
  };
}

/** The user of a message of sshd, sudo or PAM. */
const USER = /(?:\b(?:for (?:invalid user |user )?|user |user=)(\S+?))(?=[\s,;:)]|$)/;

class MessageCutter implements Cutter {
  readonly #pattern: RegExp;
  readonly #names: readonly string[];
  readonly #fields: readonly Field[];

  constructor(pattern: RegExp, names: readonly string[], fields: readonly Field[]) {
    this.#pattern = pattern;
    this.#names = names;
    this.#fields = fields;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    const match = this.#pattern.exec(headOf(bytes, from, to));
    if (match === null) return 'not a line of the format syslog';
    const start = from + match[0].length;
    this.#names.forEach((name, i) => {
      const field = this.#fields[i]!;
      if (name === 'message') field.set(bytes, start, to);
      else if (name === 'client') setFirstAddress(field, bytes, start, to);
      else {
        const text = name === 'user' ? USER.exec(bytes.toString('latin1', start, to))?.[1] : match.groups?.[name];
        if (text !== undefined) field.set(Buffer.from(text, 'latin1'), 0, text.length);
      }
    });
    return undefined;
  }
}

/** Objects of a collector that hold a line of a log, and the field of it: docker's json-file, journalctl -o json, and others. */
const lineFields = ['log', 'MESSAGE'];

/** The lines within JSON objects; undefined when the objects are no envelope. */
export function linesInJson(
  lines: readonly Buffer[],
): { readonly field: string; readonly inner: Buffer[] } | undefined {
  const objects = lines.filter(isObject);
  for (const field of lineFields) {
    const texts = objects.map((line) => textIn(line, field)).filter((text) => text !== undefined && text !== '');
    if (texts.length * 2 > objects.length) return { field, inner: texts.map((text) => Buffer.from(text!.trimEnd())) };
  }
  return undefined;
}

/** The layout of the objects, by that of the lines within; their other fields can be read, too. */
export function jsonEnveloped(objects: Layout, field: string, inner: Layout): Layout {
  return {
    ...inner,
    envelope: 'json',
    names: [...inner.names, ...objects.names.filter((name) => !inner.names.includes(name))],
    lines: objects.lines,
    cutter: (names, fields) => {
      const line = new Field();
      const within = names.map((name) => inner.names.includes(name));
      const pick = <T>(all: readonly T[], inside: boolean) => all.filter((_, i) => within[i] === inside);
      const outerCutter = objects.cutter([field, ...pick(names, false)], [line, ...pick(fields, false)]);
      const innerCutter = inner.cutter(pick(names, true), pick(fields, true));
      return {
        get unixMs() {
          return innerCutter.unixMs;
        },
        cut: (bytes, from, to) => {
          line.from = line.to = 0;
          const reason = outerCutter.cut(bytes, from, to);
          if (reason !== undefined) return reason;
          let end = line.to;
          while (end > line.from && line.bytes[end - 1]! <= 0x20) end--;
          return innerCutter.cut(line.bytes, line.from, end);
        },
      } as Cutter;
    },
  };
}
