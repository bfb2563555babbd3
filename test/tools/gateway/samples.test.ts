// Unusual and legal files of every format: what each path meets, or the line that says why not.
import { describe, expect, it } from 'vitest';
import { limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import { holds } from '../../../src/tools/gateway/request-condition.js';
import { fields, filesOf, isExpectation, samples } from './sample-files.js';

describe.each(Object.entries(samples))('%s', (_, some) => {
  it.each(some)('each path meets the limits of its place, or the line that says why not: %s', (__, sample) => {
    const found = limitersInFiles(filesOf(sample));
    const { meets = {}, says = [], unused = [] } = sample;
    const met = Object.keys(meets).map((url) => {
      const [host = '', path = ''] = [url.slice(0, url.indexOf('/')), url.slice(url.indexOf('/'))];
      const request = { host: host || undefined, path, ...sample.request };
      const refusing = found.appliesTo(request).filter(({ refuses }) => !refuses || holds(refuses, request));
      return [url, refusing.map(({ where }) => where)];
    });
    const seen: Record<string, unknown> = {
      meets: Object.fromEntries(met),
      request: sample.request,
      keys: found.limiters.map(({ key }) => key.parts ?? null),
      limits: found.limiters.map(({ limit }) => limit ?? null),
      says: found.notUnderstood.map(({ line, file, what }, i) => {
        const [said, whole] = [says[i], `${file}: ${what}`];
        return Array.isArray(said) ? [line, whole.includes(said[1]) ? said[1] : whole] : line;
      }),
      unused: found.notApplied.map(({ name, line }, i) => (typeof unused[i] === 'string' ? name : line)),
      places: found.places.map(({ limiters }) => limiters.map(({ name }) => name)),
      ...Object.fromEntries(fields.map((field) => [field, found.limiters.map((one) => one[field] ?? null)])),
    };
    const expected = Object.entries(sample).filter(([name]) => isExpectation(name));
    expect(Object.fromEntries(expected.map(([name]) => [name, seen[name]]))).toEqual(Object.fromEntries(expected));
    expect(found.notApplied.every(({ line }) => line > 0)).toBe(true);
  });
});

it.each(Object.values(samples).flat())(
  'a file with CRLF, a byte order mark and empty lines at its end is read as without them: %s',
  (_, sample) => {
    const read = (textOf: (text: string) => string) => {
      const files = filesOf(sample).map(({ name, text }) => ({ name, text: textOf(text) }));
      const { limiters, notUnderstood, notApplied } = limitersInFiles(files);
      // A block that is not closed is said of the end.
      const lines = notUnderstood.map(({ line, what }) => (what.includes('not closed') ? what : line));
      return { limiters, lines, unused: notApplied.map(({ line }) => line) };
    };
    expect(read((text) => `\uFEFF${text}\n\n`.replaceAll('\n', '\r\n'))).toEqual(read((text) => text));
  },
);
