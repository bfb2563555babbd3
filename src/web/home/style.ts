// Owns the looks of the page at /: one column that fits a phone, by day and by night.

export const style = `:root {
  color-scheme: light dark;
  --ground: #fbfcfd;
  --raised: #ffffff;
  --ink: #14202b;
  --quiet: #546372;
  --line: #d9e1e8;
  --water: #0b6e8f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f161c;
    --raised: #17212a;
    --ink: #e6edf3;
    --quiet: #9aa9b6;
    --line: #2b3843;
    --water: #5cc3e6;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 44rem;
  padding: 1rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif;
}
header { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 1rem; }
h1 { margin: 0; font-size: 1.5rem; color: var(--water); }
h2 { margin: 0 0 .5rem; font-size: 1rem; }
section { margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); }
.cycle { margin: 0; font-size: clamp(1.5rem, 8vw, 2.5rem); font-variant-numeric: tabular-nums; }
.small, #status, label, dt { color: var(--quiet); }
.small, #status { margin: 0; font-size: .875rem; }
progress { width: 100%; height: .375rem; accent-color: var(--water); }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .375rem 0 .375rem 1rem; border-top: 1px solid var(--line); text-align: right; vertical-align: baseline; white-space: nowrap; }
th { border-top: 0; color: var(--quiet); font-weight: normal; font-size: .875rem; }
th:first-child, td:first-child { padding-left: 0; text-align: left; overflow-wrap: anywhere; white-space: normal; }
form { margin-bottom: .5rem; }
select { font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: .25rem; padding: .125rem .25rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0 1rem; margin: 0 0 .5rem; }
dd { margin: 0; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 0 1rem; }
a { color: var(--water); }
:focus-visible { outline: 2px solid var(--water); outline-offset: 2px; }
@media (max-width: 26rem) { th:nth-child(3), td:nth-child(3) { display: none; } }
`;
