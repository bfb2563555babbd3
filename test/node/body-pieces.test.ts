// A body is read the same however it comes: with its head, in pieces, announced or in chunks, behind other requests.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { defaultLimits } from '../../src/node/limits.js';
import { figureIn, metricsOf } from './asking.js';
import { gateOf } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { Raw } from './raw.js';

const node = await nodeOfFile({ cycleMs: 3_600_000 });
const owner = node.owner();
const id = await owner.contractOn('m', { threshold: 1_000, keyed: { max_keys: 1 } });
const gate = `${gateOf('m', id)}?peek=1&key=${encodeURIComponent('ключ €')}`;

const EVENT = '{"type":"request","key":"ключ €"}';

const head = (framing: string, type = 'application/json') =>
  `POST /api/chain/m/event HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.key}\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n`;
const announced = (body: string) => head(`Content-Length: ${Buffer.byteLength(body)}`) + body;
const chunkedOf = (...pieces: string[]) =>
  `${head('Transfer-Encoding: chunked')}${[...pieces, ''].map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`).join('')}`;

/** The answers to what is sent on one connection, each piece a while after the one before. */
async function answersTo(pieces: readonly (string | Buffer)[], count: number): Promise<Answer[]> {
  const raw = new Raw(node.url);
  for (const piece of pieces) {
    raw.send(piece);
    await sleep(5);
  }
  const answers = answersIn(await raw.until((one) => answersIn(one).length === count));
  raw.socket.destroy();
  return answers;
}

interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly count?: number;
  readonly isLast: boolean;
}

function answersIn({ text }: Raw): Answer[] {
  const whole = text.split(/(?=HTTP\/1\.1 )/).filter((answer) => /\r\n\r\n.*\}$/s.test(answer));
  return whole.map((answer) => {
    const { code, contracts } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    const isLast = /^connection: close\r$/im.test(answer);
    return { status: Number(answer.slice(9, 12)), code, count: contracts?.[0].count, isLast };
  });
}

const bytes = () => Buffer.from(announced(EVENT));
const within = (from: number) => [bytes().subarray(0, from), bytes().subarray(from)];

// biome-ignore format: one case a line
it.each<[string, () => (string | Buffer)[], number?]>([
  ['with its head', () => [bytes()]],
  ['after its head', () => within(bytes().length - Buffer.byteLength(EVENT))],
  ['in two pieces, the first with its head', () => within(bytes().length - 5)],
  ['in two pieces, cut within a character', () => within(bytes().indexOf('€') + 1)],
  ['byte by byte', () => [head(`Content-Length: ${Buffer.byteLength(EVENT)}`), ...[...Buffer.from(EVENT)].map((byte) => Buffer.of(byte))]],
  ['in one chunk', () => [chunkedOf(EVENT)]],
  ['in chunks', () => [chunkedOf(EVENT.slice(0, 7), EVENT.slice(7))]],
  ['three in one piece', () => [announced(EVENT).repeat(3)], 3],
  [
    'two in one piece, and a part of a third',
    () => [announced(EVENT).repeat(2) + announced(EVENT).slice(0, -9), announced(EVENT).slice(-9)],
    3,
  ],
  [
    'a part of one, then the rest of it and two more',
    () => [announced(EVENT).slice(0, -9), announced(EVENT).slice(-9) + announced(EVENT).repeat(2)],
    3,
  ],
  ['a chunked one between others', () => [announced(EVENT) + chunkedOf(EVENT, ' ') + announced(EVENT)], 3],
])('an event is counted however its body comes: %s', async (_, pieces, count = 1) => {
  const before = await countNow();
  const answers = await answersTo(pieces(), count);
  const expected = Array.from({ length: count }, (_, n) => ({ status: 200, count: before + n + 1, isLast: false }));
  expect(answers).toEqual(expected);
});

async function countNow(): Promise<number> {
  return (await owner.get(gate)).body.count;
}

// biome-ignore format: one case a line
it.each<[string, () => string[], Partial<Answer>]>([
  ['none, announced', () => [head('Content-Length: 0')], { status: 400, code: 'invalid_input' }],
  ['none, in no chunk', () => [chunkedOf()], { status: 400, code: 'invalid_input' }],
  ['one that is not JSON', () => [announced('{"type":')], { status: 400, code: 'invalid_json' }],
  [
    'one that is announced as too long',
    () => [head(`Content-Length: ${defaultLimits.shortBodyBytes + 1}`)],
    { status: 413, code: 'body_too_large' },
  ],
  [
    'one that is too long, in chunks',
    () => [chunkedOf(...Array.from({ length: 40 }, () => ' '.repeat(1_024)))],
    { status: 413, code: 'body_too_large' },
  ],
  ['one of another type', () => [head('Content-Length: 2', 'text/plain'), '{}'], { status: 415, code: 'unsupported_media_type' }],
])('an event is refused where its body is %s', async (_, pieces, expected) => {
  expect(await answersTo(pieces(), 1)).toEqual([expect.objectContaining(expected)]);
});

it('what is behind a body that closes its connection is not counted: it would have no answer', async () => {
  const before = await countNow();
  const most = defaultLimits.shortBodyBytes;
  const behind = announced(EVENT).repeat(12);
  for (const tooLong of [head(`Content-Length: ${most + 1}`) + ' '.repeat(most + 1), chunkedOf(' '.repeat(most + 1))])
    expect(await answersTo([tooLong + behind], 2)).toEqual([
      { status: 413, code: 'body_too_large', count: undefined, isLast: true },
    ]);
  expect(await countNow()).toBe(before);
});

it('a body as long as it may be is read', async () => {
  const long = EVENT + ' '.repeat(defaultLimits.shortBodyBytes - Buffer.byteLength(EVENT));
  const answers = [...(await answersTo([announced(long)], 1)), ...(await answersTo([chunkedOf(long)], 1))];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

it('a body that breaks off is counted as a refused request, and the node logs no error', async () => {
  const broken = () =>
    metricsOf(node.url).then((text) =>
      figureIn(text, 'weir_requests_total{method="POST",path="/api/chain/{slug}/event",status="400"}'),
    );
  const before = await broken();
  const { socket } = (await Raw.on(node.url)).send(announced(EVENT).slice(0, -4));
  await sleep(20);
  socket.destroy();
  await expect.poll(broken).toBe(before + 1);
  expect(node.errors).toEqual([]);
});

// Otherwise a thousand slow connections of one caller would keep a gigabyte.
it('bodies without an end take no more memory than an owner may have, and the room of others stays', async () => {
  const small = await nodeOfFile({
    cycleMs: 3_600_000,
    limits: { openBodyBytes: { perOwner: 12_000, onNode: 64_000 } },
  });
  const [slow, other] = [small.owner('slow'), small.owner('other')];
  for (const by of [slow, other]) await by.contractOn(by === slow ? 's' : 'o', { threshold: 1_000 });
  const body = `{"type":"request"}${' '.repeat(6_000)}`;
  const begin = async (by: typeof slow) => {
    const raw = new Raw(small.url);
    const head = `POST /api/chain/${by === slow ? 's' : 'o'}/event HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${by.key}\r\n`;
    raw.send(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
    await sleep(20);
    raw.send(body.slice(0, 5_000));
    await sleep(20);
    return raw;
  };
  const statusOf = async (raw: Raw) => (await raw.answered()).statuses;
  const [first, second, third, ofOther] = [await begin(slow), await begin(slow), await begin(slow), await begin(other)];
  expect(await statusOf(third)).toEqual([503]);
  expect(await statusOf(ofOther.send(body.slice(5_000)))).toEqual([200]);
  first.socket.destroy();
  await sleep(50);
  expect(await statusOf(second.send(body.slice(5_000)))).toEqual([200]);
  expect(await statusOf((await begin(slow)).send(body.slice(5_000)))).toEqual([200]);
});
