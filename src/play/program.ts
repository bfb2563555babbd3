// The program of the playground, in one text: in the page it is the page, in the worker that the page starts of the same text it runs
// scenarios. So the page answers at once however long a run takes.

if (typeof document === 'undefined') void import('./runs.js').then(({ serveRuns }) => serveRuns());
else void import('./play.js');
