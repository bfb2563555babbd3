// The playground program: the page itself, and the worker that the page starts from the same text to run scenarios. So the page stays
// responsive during a run.

if (typeof document === 'undefined') void import('./runs.js').then(({ serveRuns }) => serveRuns());
else void import('./play.js');
