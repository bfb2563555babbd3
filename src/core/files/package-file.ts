// Paths of files of the package: pages, fonts, schemas, topics, scenarios, worker programs.
import { createRequire } from 'node:module';

/** Resolved by the `imports` of package.json, so that sources, build and chunks agree. @param path relative to the package */
export function packageFile(path: string): string {
  return createRequire(import.meta.url).resolve(`#package/${path}`);
}
