import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readInstant } from '../../../../src/harness/traffic/log/instant.js';
import { type TimeUnit, unitOf } from '../../../../src/harness/traffic/log/unix.js';
import { forAll } from '../../../draws.js';

/** Reads a text that stands among other bytes, so that a look beyond its end would be noticed. */
function read(text: string, unit: TimeUnit = 's'): number {
  const bytes = Buffer.from(`9${text}9`);
  return readInstant(bytes, 1, bytes.length - 1, unit);
}

const may17 = Date.UTC(2015, 4, 17, 10, 5, 3);

it.each([
  ['2015-05-17T10:05:03Z', may17],
  ['2015-05-17 10:05:03', may17],
  ['2015-05-17t10:05:03z', may17],
  ['2015/05/17 10:05:03', may17],
  ['20150517T100503Z', may17],
  ['20150517T100503.5Z', may17 + 500],
  ['2015-05-17T12:05:03+0200', may17],
  ['2015-05-17T12:05:03+02', may17],
  ['2015-05-17T15:35:03 +0530', may17],
  ['2015-05-17 10:05:03 UTC', may17],
  ['2015-05-17 10:05:03 GMT', may17],
  ['2015-05-17T10:05', may17 - 3000],
  ['2015-05-17T12:05+02:00', may17 - 3000],
  ['2015-05-17', Date.UTC(2015, 4, 17)],
  ['  2015-05-17T10:05:03Z\t', may17],
  ['17/May/2015:10:05:03 +0000', may17],
  ['[17/May/2015:10:05:03 +0000]', may17],
  ['17/may/2015:12:05:03 +0200', may17],
  ['17/MAY/2015:06:05:03 -0400', may17],
  ['17/May/2015:10:05:03', may17],
  ['17/May/2015:10:05:03.123 +0000', may17 + 123],
  ['7/May/2015:10:05:03 +0000', Date.UTC(2015, 4, 7, 10, 5, 3)],
])('a date with a clock time is an instant: %s', (text, unixMs) => {
  expect(read(text)).toBe(unixMs);
});

it.each([
  ['2015-05-17T10:05:03.1Z', 100],
  ['2015-05-17T10:05:03.12Z', 120],
  ['2015-05-17T10:05:03.123456789012345Z', 123],
  ['2015-05-17T10:05:03.9999999Z', 999],
  ['2015-05-17 10:05:03,123', 123],
  ['2015-05-17 10:05:03.0009999', 0],
])('a clock time keeps its decimals and is rounded down to ms: %s', (text, ms) => {
  expect(read(text)).toBe(may17 + ms);
});

it.each([
  ['1970-01-01T00:00:00Z', 0],
  ['1969-12-31T23:59:59.999Z', -1],
  ['1969-12-31T23:59:59.9999Z', -1],
  ['0000-03-01T00:00:00Z', -62_162_035_200_000],
  ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
  ['2000-02-29', Date.UTC(2000, 1, 29)],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
  ['2038-01-19T03:14:08Z', 2 ** 31 * 1000],
])('%s is read, however far from today', (text, unixMs) => {
  expect(read(text)).toBe(unixMs);
});

it.each([
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ['2017-01-01T05:29:60.5+05:30', '2017-01-01T00:00:00.5Z'],
  ['31/Dec/2016:23:59:60 +0000', '2017-01-01T00:00:00Z'],
])('a leap second is the second that follows: %s', (leap, next) => {
  expect(read(leap)).toBe(read(next));
});

it.each([
  ['31 February', '2015-02-31T10:05:03Z'],
  ['31 February', '31/Feb/2015:10:05:03 +0000'],
  ['29 February of no leap year', '2015-02-29'],
  ['29 February of 1900', '1900-02-29'],
  ['31 April', '2015-04-31'],
  ['month 13', '2015-13-01'],
  ['month 0', '2015-00-01'],
  ['day 0', '2015-05-00'],
  ['no such month', '17/Mai/2015:10:05:03 +0000'],
  ['hour 24', '2015-05-17T24:00:00Z'],
  ['minute 60', '2015-05-17T10:60:00Z'],
  ['second 61', '2015-05-17T10:05:61Z'],
  ['a leap second in the middle of a day', '2015-05-17T10:05:60Z'],
  ['a point without decimals', '2015-05-17T10:05:03.Z'],
  ['no minutes', '2015-05-17T10'],
  ['a blank alone', '2015-05-17T10:05:03 '.padEnd(22, 'x')],
  ['a zone name that several zones have', '2015-05-17T10:05:03 IST'],
  ['a zone of one digit', '2015-05-17T10:05:03+2'],
  ['a zone of 24 hours', '2015-05-17T10:05:03+24:00'],
  ['a zone of 60 minutes', '2015-05-17T10:05:03+0060'],
  ['letters for digits', '2O15-05-17T10:05:03Z'],
  ['a letter in the clock time', '2015-05-17T1O:05:03Z'],
  ['two kinds of separator', '2015-05/17T10:05:03Z'],
  ['colons in part', '2015-05-17T10:0503Z'],
  ['day first in numbers', '17/05/2015 10:05:03'],
  ['a year of two digits', '17/May/15:10:05:03 +0000'],
  ['cut off', '17/May/2015:10:0'],
  ['cut off', '2015-05-1'],
  ['a clock time alone', '10:05:03'],
  ['nothing', ''],
  ['a blank', ' '],
  ['a dash', '-'],
])('%s is not a time: %s', (_, text) => {
  expect(read(text)).toBeNaN();
});

it('dates with clock times agree with the calendar of the engine on every day and in every zone', () => {
  const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9998-12-31'), noInvalidDate: true });
  const zones = fc.integer({ min: -14 * 60, max: 14 * 60 });
  forAll([instants, zones], 2000, (instant, zone) => {
    const local = new Date(instant.getTime() + zone * 60_000).toISOString().slice(0, -1);
    const [hours, minutes] = [Math.floor(Math.abs(zone) / 60), Math.abs(zone) % 60];
    const pad = (part: number): string => String(part).padStart(2, '0');
    const text = `${local}${zone < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`;
    expect(read(text)).toBe(instant.getTime());
  });
});

it.each<[string, TimeUnit, number]>([
  ['807256800', 's', 807_256_800_000],
  ['1446249504427', 'ms', 1_446_249_504_427],
  ['1446249504427999', 'us', 1_446_249_504_427],
  ['1446249504427999999', 'ns', 1_446_249_504_427],
  ['1.446249504427E9', 's', 1_446_249_504_427],
  ['1446249504427e-3', 's', 1_446_249_504_427],
  ['+12', 's', 12_000],
  ['0', 's', 0],
  ['0.0', 'ms', 0],
  ['.5', 's', 500],
  ['5.', 's', 5000],
  ['0007', 'ms', 7],
  ['-0.0001', 's', -1],
  ['-0', 's', 0],
  ['2147483648', 's', 2_147_483_648_000],
  ['8640000000000', 's', 8.64e15],
  ['8640000000000000', 'ms', 8.64e15],
])('a number since 1970 is an instant: %s %s', (text, unit, unixMs) => {
  expect(read(text, unit)).toBe(unixMs);
});

it.each<[string, TimeUnit]>([
  ['8640000000001', 's'],
  ['8640000000000001', 'ms'],
  ['1e99', 's'],
  ['1e9999', 's'],
  ['12a', 's'],
  ['1 2', 's'],
  ['1,5', 's'],
  ['0x10', 's'],
  ['Infinity', 's'],
  ['NaN', 's'],
  ['--1', 's'],
  ['.', 's'],
  ['e5', 's'],
  ['1_000', 's'],
  ['9'.repeat(500), 'ns'],
])('the number %s %s is not a time', (text, unit) => {
  expect(read(text, unit)).toBeNaN();
});

it('a number since 1970 is rounded down exactly, whatever its digits', () => {
  const units: Record<'s' | 'ms' | 'us' | 'ns', bigint> = { s: 1000n, ms: 1n, us: 1n, ns: 1n };
  const perMs: Record<'s' | 'ms' | 'us' | 'ns', bigint> = { s: 1n, ms: 1n, us: 1000n, ns: 1_000_000n };
  const whole = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n });
  const decimals = fc.stringMatching(/^\d{0,25}$/);
  forAll(
    [whole, decimals, fc.constantFrom('s' as const, 'ms' as const, 'us' as const, 'ns' as const)],
    2000,
    (value, fraction, unit) => {
      const text = fraction === '' ? `${value}` : `${value}.${fraction}`;
      const scale = 10n ** BigInt(fraction.length);
      const magnitude = (value < 0n ? -value : value) * scale + BigInt(fraction || '0');
      const scaled = (value < 0n ? -magnitude : magnitude) * units[unit];
      const divisor = scale * perMs[unit];
      const floored = scaled / divisor - (scaled < 0n && scaled % divisor !== 0n ? 1n : 0n);
      expect(read(text, unit)).toBe(Number(floored));
    },
  );
});

it.each<[string, string[], TimeUnit | undefined]>([
  ['time', ['99999999999', '99999999999', '1446249504427'], undefined],
  ['time', ['807256800'], 's'],
  ['time', ['807256800.123456'], 's'],
  ['time', ['1446249504427', '1446249504428'], 'ms'],
  ['time', ['1446249504427999'], 'us'],
  ['time', ['1446249504427999999'], 'ns'],
  ['time', ['1.446249504427e12'], 'ms'],
  ['time', ['0', '1446249504427', '1446249504428'], 'ms'],
  ['time', ['0', '1', '2'], 's'],
  ['time', [], 's'],
  ['time', ['never', '-'], 's'],
  ['t_ms', ['0', '777'], 'ms'],
  ['startNs', ['0'], 'ns'],
  ['unixMillis', ['5'], 'ms'],
  ['time (us)', ['5'], 'us'],
  ['t_s', ['1446249504427'], 'ms'],
  ['items', ['5'], 's'],
  ['ts', ['5'], 's'],
])('column %s with %j is in %s', (name, values, unit) => {
  expect(unitOf(values, name)).toBe(unit);
});
