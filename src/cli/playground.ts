// The playground program: the page itself, and the worker that the page starts from the same text to run scenarios. So the page stays
// responsive during a run.
import { addLimitFileReader } from '../core/limiter/products/limit-files.js';
import { limitFileReader } from '../tools/gateway/pasted.js';

addLimitFileReader(limitFileReader);

if (typeof document === 'undefined') void import('../tools/play/runs.js').then(({ serveRuns }) => serveRuns());
else void import('../tools/play/play.js');
