import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readInstant } from '../../../../src/harness/traffic/log/instant.js';
import { type TimeUnit, unitOf } from '../../../../src/harness/traffic/log/unix.js';
import { tablesBeside } from '../../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

/** Reads a text that stands among other bytes, so that a look beyond its end would be noticed. */
function read(text: string, unit: TimeUnit = 's'): number {
  const bytes = Buffer.from(`9${text}9`);
  return readInstant(bytes, 1, bytes.length - 1, unit);
}

const may17 = Date.UTC(2015, 4, 17, 10, 5, 3);

describe('a date with a clock time', () => {
  it.each([
    ['2015-05-17T10:05:03Z', may17],
    ['2015-05-17 10:05:03', may17],
    ['2015-05-17t10:05:03z', may17],
    ['2015/05/17 10:05:03', may17],
    ['20150517T100503Z', may17],
    ['20150517T100503.5Z', may17 + 500],
    ['2015-05-17T10:05:03+00:00', may17],
    ['2015-05-17T12:05:03+02:00', may17],
    ['2015-05-17T12:05:03+0200', may17],
    ['2015-05-17T12:05:03+02', may17],
    ['2015-05-17T15:35:03 +0530', may17],
    ['2015-05-17T04:35:03-05:30', may17],
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
  ])('%s', (text, unixMs) => {
    expect(read(text)).toBe(unixMs);
  });

  it.each([
    ['2015-05-17T10:05:03.1Z', 100],
    ['2015-05-17T10:05:03.12Z', 120],
    ['2015-05-17T10:05:03.123456789012345Z', 123],
    ['2015-05-17T10:05:03.9999999Z', 999],
    ['2015-05-17 10:05:03,123', 123],
    ['2015-05-17 10:05:03.0009999', 0],
  ])('keeps its decimals and rounds down to ms: %s', (text, ms) => {
    expect(read(text)).toBe(may17 + ms);
  });

  it.each<[text: string, unixMs: number]>(tables.far)('%s is far from today', (text, unixMs) => {
    expect(read(text)).toBe(unixMs);
  });

  it.each([
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
    ['2017-01-01T05:29:60.5+05:30', '2017-01-01T00:00:00.5Z'],
    ['31/Dec/2016:23:59:60 +0000', '2017-01-01T00:00:00Z'],
  ])('a leap second is the second that follows: %s', (leap, next) => {
    expect(read(leap)).toBe(read(next));
  });

  it.each<[name: string, text: string]>(tables.no_time)('%s is not a time: %s', (_, text) => {
    expect(read(text)).toBeNaN();
  });

  it('agrees with the calendar of the engine on every day and in every zone', () => {
    const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9998-12-31'), noInvalidDate: true });
    const zones = fc.integer({ min: -14 * 60, max: 14 * 60 });
    fc.assert(
      fc.property(instants, zones, (instant, zone) => {
        const local = new Date(instant.getTime() + zone * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(zone) / 60), Math.abs(zone) % 60];
        const pad = (part: number): string => String(part).padStart(2, '0');
        const text = `${local}${zone < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`;
        expect(read(text)).toBe(instant.getTime());
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a number since 1970', () => {
  it.each<[string, TimeUnit, number]>(tables.numbers)('%s %s', (text, unit, unixMs) => {
    expect(read(text, unit)).toBe(unixMs);
  });

  it.each<[string, TimeUnit]>([...tables.no_number, ['9'.repeat(500), 'ns']])('%s %s is not a time', (text, unit) => {
    expect(read(text, unit)).toBeNaN();
  });

  it('is rounded down exactly, whatever its digits', () => {
    const units: Record<'s' | 'ms' | 'us' | 'ns', bigint> = { s: 1000n, ms: 1n, us: 1n, ns: 1n };
    const perMs: Record<'s' | 'ms' | 'us' | 'ns', bigint> = { s: 1n, ms: 1n, us: 1000n, ns: 1_000_000n };
    const whole = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n });
    const decimals = fc.stringMatching(/^\d{0,25}$/);
    fc.assert(
      fc.property(
        whole,
        decimals,
        fc.constantFrom('s' as const, 'ms' as const, 'us' as const, 'ns' as const),
        (value, fraction, unit) => {
          const text = fraction === '' ? `${value}` : `${value}.${fraction}`;
          const scale = 10n ** BigInt(fraction.length);
          const magnitude = (value < 0n ? -value : value) * scale + BigInt(fraction || '0');
          const scaled = (value < 0n ? -magnitude : magnitude) * units[unit];
          const divisor = scale * perMs[unit];
          const floored = scaled / divisor - (scaled < 0n && scaled % divisor !== 0n ? 1n : 0n);
          expect(read(text, unit)).toBe(Number(floored));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('the unit of numbers', () => {
  it.each<[string, string[], TimeUnit | undefined]>([
    ...tables.columns,
    ['time', ['99999999999', '99999999999', '1446249504427'], undefined],
  ])('column %s with %j is in %s', (name, values, unit) => {
    expect(unitOf(values, name)).toBe(unit);
  });
});
