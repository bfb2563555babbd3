// Work in short steps, so that other work can run in between: what is left to do is kept in a generator.
export type Steps<T> = Generator<unknown, T>;

export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
