// Files in formats that are not read: each is named, with the line that says so, and no limit is read from it.
import { describe, expect, it } from 'vitest';
import { readLimit } from '../../../src/core/limiter/products/limit-text.js';
import { definitionOf } from '../../../src/core/limiter/products/products.js';
import { limiterIn } from '../../../src/harness/scenario/limit-file.js';
import type { Source } from '../../../src/tools/gateway/found.js';
import { limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import { taken } from '../../../src/tools/play/own-files.js';
import { failureIn, failureOf } from '../../failures.js';
import { tablesBeside } from '../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

const inConfigMap = (text: string) => `kind: ConfigMap\ndata:\n  file: |\n    ${text.replaceAll('\n', '\n    ')}\n`;

describe.each<[format: string, cases: [what: string, file: string, text: string, line: number][]]>(tables.unread)(
  '%s',
  (format, cases) => {
    const named = (files: readonly Source[]) => {
      const found = limitersInFiles(files);
      expect(found.limiters).toEqual([]);
      const words =
        /^(.*) files are not read: (?:write the file of Traefik in YAML, or )?give the limit with --limit, or .* as in '(.*)'$/;
      return found.notUnderstood.flatMap(({ file, line, what }) => {
        const [, name, limit] = words.exec(what) ?? [];
        if (name !== undefined) expect(definitionOf(readLimit(limit!), 777).primitive).toBeTypeOf('string');
        return name === undefined ? [] : [[name, file, line]];
      });
    };

    it.each(cases)('%s', (_, name, text, line) => {
      expect(named([{ name, text }])).toEqual([[format, name, line]]);
    });

    it('is named within a ConfigMap, and beside a file without limits', () => {
      for (const [, , text, line] of cases.filter(([what]) => !/ of this name|template/.test(what))) {
        const files = [
          { name: 'map.yaml', text: inConfigMap(text) },
          { name: 'nginx.conf', text: 'server { }' },
        ];
        expect(named(files)).toEqual([[format, 'map.yaml', line + 3]]);
      }
    });

    it('is refused by the playground', async () => {
      for (const [, name, text] of cases)
        expect(await failureIn(taken(new File([text], name)))).toMatchObject({ what: `${format} files are not read.` });
    });

    it('is refused as the limiter of a scenario', () => {
      for (const [, name, text] of cases)
        expect(
          failureOf(() =>
            definitionOf(
              limiterIn(`./${name}`, () => text),
              777,
            ),
          ),
        ).toMatchObject({
          code: 'invalid_definition',
          what: `${format} files are not read.`,
          fix: expect.stringMatching(
            /^(?:Write .* or g|G)ive the limit with --limit, or as limiter: of a scenario, as in '.*'\.$/,
          ),
        });
    });
  },
);
