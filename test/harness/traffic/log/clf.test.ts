import fc from 'fast-check';
import { expect, it } from 'vitest';
import { forAllAsync } from '../../../draws.js';
import { readText } from './reading.js';

const rest = '"GET /a HTTP/1.1" 200 2326 "-" "Mozilla/5.0"';
const time = '[17/May/2015:10:05:03 +0000]';
const unixMs = Date.UTC(2015, 4, 17, 10, 5, 3);
const client = { format: 'combined', keyColumn: 'client' } as const;
const unkeyed = { format: 'combined' } as const;

it.each([
  ['combined', `83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['common', `83.149.9.216 - - ${time} "GET / HTTP/1.0" 304 -`, '83.149.9.216'],
  ['a host name', `pppa006.compuserve.com - - ${time} ${rest}`, 'pppa006.compuserve.com'],
  ['an odd host name', `***.novo.dk - - ${time} ${rest}`, '***.novo.dk'],
  ['IPv6', `2001:db8::1 - - ${time} ${rest}`, '2001:db8::1'],
  ['IPv6 of loopback', `::1 - - ${time} ${rest}`, '::1'],
  ['IPv6 in brackets', `[2001:db8::1] - - ${time} ${rest}`, '2001:db8::1'],
  ['IPv6 in brackets with a port', `[2001:db8::1]:4711 - - ${time} ${rest}`, '2001:db8::1'],
  ['IPv4 with a port', `83.149.9.216:4711 - - ${time} ${rest}`, '83.149.9.216'],
  ['a virtual host with a port first', `example.org:443 83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['a virtual host with a port, then a name', `example.org:443 client.example - - ${time} ${rest}`, 'client.example'],
  ['a virtual host with a port, then IPv6', `example.org:443 2001:db8::1 - - ${time} ${rest}`, '2001:db8::1'],
  ['a virtual host without a port', `example.org 83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['a port, and a user with a blank', `83.149.9.216:4711 - john doe ${time} ${rest}`, '83.149.9.216'],
  ['forwarded addresses', `83.149.9.216, 10.0.0.1 - - ${time} ${rest}`, '83.149.9.216'],
  ['no forwarded address, then the client', `- 83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['the level and name of a logger', `INFO werkzeug 83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['the same after dashes', `- werkzeug - INFO - 2001:db8::1 - - ${time} ${rest}`, '2001:db8::1'],
  ['the same before colons', `INFO:werkzeug:83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['a file, as grep prints it', `access.log:2001:db8::1 - - ${time} ${rest}`, '2001:db8::1'],
  ['a file and the number of the line', `access.log:7:83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['the number of the line', `7:83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['IPv4 in IPv6', `::ffff:83.149.9.216 - - ${time} ${rest}`, '::ffff:83.149.9.216'],
  ['a user that is an address', `client.example - 10.0.0.1 ${time} ${rest}`, 'client.example'],
  ['quoted forwarded addresses', `"83.149.9.216, 10.0.0.1" - - ${time} ${rest}`, '83.149.9.216'],
  ['a quoted address', `"83.149.9.216" - - ${time} ${rest}`, '83.149.9.216'],
  ['a user', `83.149.9.216 - frank ${time} ${rest}`, '83.149.9.216'],
  ['a user with blanks', `83.149.9.216 - frank n furter ${time} ${rest}`, '83.149.9.216'],
  ['a user with brackets', `83.149.9.216 - fr[an]k ${time} ${rest}`, '83.149.9.216'],
  ['a user with an open bracket', `83.149.9.216 - fr[ank ${time} ${rest}`, '83.149.9.216'],
  ['the whole line in quotes', `"83.149.9.216 - - ${time} ${rest.replaceAll('"', '""')}"`, '83.149.9.216'],
  ['the whole line in single quotes', `'83.149.9.216 - - ${time} ${rest}'`, '83.149.9.216'],
  ['an unclosed quote', `83.149.9.216 - - ${time} "GET /a HTTP/1.1" 200 235 "-" "Mozilla`, '83.149.9.216'],
  ['nothing after the time', `83.149.9.216 - - ${time}`, '83.149.9.216'],
  ['garbage after the time', `83.149.9.216 - - ${time}\u0000\u0001\ufffd"[[[`, '83.149.9.216'],
  ['address and time alone', `83.149.9.216 ${time}`, '83.149.9.216'],
  ['blanks first', `  83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['NULs that log rotation left first', `${'\0'.repeat(500)}83.149.9.216 - - ${time} ${rest}`, '83.149.9.216'],
  ['tabs', `83.149.9.216\t-\t-\t${time}\t${rest}`, '83.149.9.216'],
  ['a carriage return', `83.149.9.216 - - ${time} ${rest}\r`, '83.149.9.216'],
  ['a socket', `unix: - - ${time} ${rest}`, 'unix:'],
  ['letters beyond ASCII', `bücher.example - - ${time} ${rest}`, 'bücher.example'],
  ['a dash and more', `-host - - ${time} ${rest}`, '-host'],
  ['a time with milliseconds of 0', `83.149.9.216 - - [17/May/2015:10:05:03.000 +0000] ${rest}`, '83.149.9.216'],
  ['a time in another zone', `83.149.9.216 - - [17/May/2015:06:05:03 -0400] ${rest}`, '83.149.9.216'],
  ['an ISO time', `83.149.9.216 - - [2015-05-17T12:05:03+02:00] ${rest}`, '83.149.9.216'],
  ['a second time in the request', `83.149.9.216 - - ${time} "GET /[18/May/2015:10:05:03 +0000]"`, '83.149.9.216'],
])('a line is a request if its address and its bracketed time can be read: %s', async (_, line, key) => {
  expect((await readText(`${line}\n`, client)).heard).toEqual([[unixMs, 1, key]]);
  expect((await readText(`${line}\n`, unkeyed)).heard).toEqual([[unixMs, 1, '']]);
});

it.each([
  ['no time in brackets', '83.149.9.216 - - 17/May/2015:10:05:03 +0000 "GET /"'],
  ['no time in brackets', 'some words'],
  ['the text in brackets is not a timestamp', `83.149.9.216 - - [31/Feb/2015:10:05:03 +0000] ${rest}`],
  ['the text in brackets is not a timestamp', `83.149.9.216 - - [17/May/2015:10:05:03 +0000 ${rest}`],
  ['the text in brackets is not a timestamp', `83.149.9.216 - - [17/May/2015:10:0`],
  ['the text in brackets is not a timestamp', '83.149.9.216 - - [] "GET /"'],
  ['the text in brackets is not a timestamp', '83.149.9.216 - - [1431857103] "GET /"'],
  ['no address before the time', `${time} ${rest}`],
  ['no address before the time', `- - - ${time} ${rest}`],
  ['no address before the time', `83.149.9.216${time} ${rest}`],
  ['no address before the time', `"-" - - ${time} ${rest}`],
  ['no address before the time', `, - - ${time} ${rest}`],
  ['no address before the time', `-${time} ${rest}`],
])('a line is skipped with its reason, %s: %s', async (reason, line) => {
  for (const options of [client, unkeyed]) {
    const { heard, skipped } = await readText(`83.149.9.216 - - ${time}\n${line}\n`, options);
    expect({ heard: heard.length, skipped }).toEqual({ heard: 1, skipped: [`2: ${reason}`] });
  }
});

const two = fc.integer({ min: 0, max: 29 }).map((n) => `${n}`.padStart(2, '0'));
const often = (usual: string, ...others: string[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const timeText = fc
  .tuple(
    often('17/May/2015', '18/May/2015', '17/Mai/2015', '7/May/2015', '31/Feb/2015', '2015-05-17', '17-May-2015'),
    often(':', ' ', 'T'),
    fc.tuple(two, two, two),
    often(':', '', '.', ';'),
    often(
      ' +0000',
      '.123 +0000',
      '.124 +0000',
      '.12x +0000',
      '.1234 +0000',
      ' -0400',
      '+02:00',
      '.12345',
      ',12345',
      ' +9999',
      '',
      'Z',
      ' +000]',
    ),
  )
  .map(([date, between, clock, colon, zone]) => `${date}${between}${clock.join(colon)}${zone}`);
const oddTime = fc.constantFrom(
  '17/May/2015:23:59:60 +0000',
  '17/May/2015:24:00:00 +0000',
  '17/May/2015:1a:00:00 +0000',
);
const brackets = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: timeText }, { weight: 1, arbitrary: oddTime }),
    often(']', '', '}', '] ]', `] ${time}`),
  )
  .map(([text, close]) => `[${text}${close}`);

it('a line is read as if it stood alone, whatever time the line before has', async () => {
  const lines = fc.array(brackets, { minLength: 2, maxLength: 12 });
  await forAllAsync([lines], async (times) => {
    // A log needs one request to be read. Its ISO time is none that is remembered.
    const first = `10.0.0.1 - - [2015-05-16T00:00:00Z] ${rest}`;
    const texts = times.map((text, i) => `10.0.0.${i} - - ${text} ${rest}`);
    const alone = await Promise.all(texts.map((text) => readText(`${first}\n${text}`, client)));
    const together = await readText([first, ...texts].join('\n'), client);
    expect(together.heard.slice(1)).toEqual(alone.flatMap(({ heard }) => heard.slice(1)));
  });
});

it('without a key, every request has the empty one', async () => {
  const { heard, reading } = await readText(`a - - ${time} ${rest}\nb - - ${time} ${rest}`);
  expect({ heard, keyFrom: reading.keyFrom }).toEqual({
    heard: [
      [unixMs, 1, ''],
      [unixMs, 1, ''],
    ],
    keyFrom: undefined,
  });
});

it('many addresses keep their names, however often they come and whoever shares a slot', async () => {
  const names = Array.from({ length: 30_000 }, (_, i) => `host-${(i * 7919) % 20_000}.example`);
  const { heard } = await readText(names.map((name) => `${name} - - ${time} ${rest}`).join('\n'), client);
  expect(heard.map(([, , key]) => key)).toEqual(names);
});
