// The order in which test files start: those of a list first, as it has them. Vitest knows how long a file takes only from a run before,
// which a new clone has not had; a long file that starts last keeps the other workers waiting.
import { relative } from 'node:path';
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/** @param first paths from the root of the project, the longest first */
export function longestFirst(first: readonly string[]): TestSequencerConstructor {
  const places = new Map(first.map((path, place) => [path, place]));
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const { root } = this.ctx.config;
      const placeOf = ({ moduleId }: TestSpecification) => places.get(relative(root, moduleId)) ?? places.size;
      return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
    }
  };
}
