// The playground program: the page itself, and the worker that the page starts from the same text to run scenarios. So the page stays
// responsive during a run.
import { limitFileReader } from '../gateway/pasted.js';
import { addLimitFileReader } from '../limiter/products/limit-files.js';

addLimitFileReader(limitFileReader);

if (typeof document === 'undefined') void import('../play/runs.js').then(({ serveRuns }) => serveRuns());
else void import('../play/play.js');
