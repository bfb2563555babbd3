// Tables of data that stand beside their test: x.yaml, read by x.test.ts.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Each by its name. @param url of the test: `import.meta.url` */
export function tablesBeside(url: string): Readonly<Record<string, any>> {
  return parse(readFileSync(new URL(url.replace(/(\.long)?(\.test)?\.ts$/, '.yaml')), 'utf8'));
}
