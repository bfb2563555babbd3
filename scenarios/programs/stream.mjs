// Your own requests through the pipeline of RxJS: counted by cycle, then decided. Each row is a cycle in which something changed.
import { countsByCycle, decide, rateLimiter } from '@weir/cli';
import { filter, from } from 'rxjs';

const requests = Array.from({ length: 300 }, (_, index) => ({ at: 1_700_000_000_000 + 40 * index }));

from(requests)
  .pipe(
    countsByCycle(),
    decide(rateLimiter({ threshold: 100, within: 60 })),
    filter(({ transitions }) => transitions.length > 0),
  )
  .subscribe(({ cycle, transitions }) => {
    for (const { to, count } of transitions) console.log(`cycle ${cycle}: ${to} at ${count}`);
  });

// cycle 2187902193: limiting at 101
// cycle 2187902258: allowing at 84
