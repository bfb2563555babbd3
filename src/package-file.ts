// Files of the package: pages, fonts, schemas, topics, scenarios, and the programs of its threads.
import { createRequire } from 'node:module';

/**
 * Resolved by the `imports` of package.json: the same from the sources, from the build and from its chunks.
 * @param path from the folder of the package
 */
export function packageFile(path: string): string {
  return createRequire(import.meta.url).resolve(`#package/${path}`);
}
