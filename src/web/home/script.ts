// Owns the movement of the page at /: it asks the node for its figures and writes them down. Runs in the browser, where it owns
// its timers; a module without imports, so that the page needs no build.

export const script = `const byId = (id) => document.getElementById(id);
const tell = (id, text) => { const place = byId(id); if (place.textContent !== text) place.textContent = text; };
const number = new Intl.NumberFormat('en');

async function ask(path) {
  const response = await fetch(path, { headers: { accept: 'application/json' }, cache: 'no-store' });
  const answer = await response.json();
  if (!answer.ok) throw new Error(answer.detail);
  return answer;
}

/** Milliseconds on the clock of the page. */
const now = () => document.timeline.currentTime;
let clock;

async function askClock() {
  const { cycle, cycle_ms, next_cycle_in_ms } = await ask('/api/clock');
  clock = { cycle, lengthMs: cycle_ms, endMs: now() + next_cycle_in_ms };
  tell('cycle-ms', number.format(cycle_ms));
}

function showClock() {
  if (clock === undefined) return;
  const passed = Math.floor((now() - clock.endMs) / clock.lengthMs) + 1;
  tell('cycle', number.format(clock.cycle + passed));
  byId('progress').value = 1 - (clock.endMs + passed * clock.lengthMs - now()) / clock.lengthMs;
}

function row({ slug, transitions, last_transition_cycle, contracts }, cycle) {
  const line = document.createElement('tr');
  const ago = cycle - last_transition_cycle;
  for (const text of [slug, number.format(transitions), number.format(Math.max(0, ago)), number.format(contracts)]) {
    line.append(Object.assign(document.createElement('td'), { textContent: text }));
  }
  return line;
}

async function askActive() {
  const { machines, cycle } = await ask('/api/chain/active?cycles=' + byId('cycles').value);
  byId('machines').replaceChildren(...machines.map((machine) => row(machine, cycle)));
  byId('empty').hidden = machines.length > 0;
}

async function askKey() {
  const { version, fingerprint } = await ask('/api/updates/pubkey');
  tell('version', version);
  tell('fingerprint', fingerprint);
}

async function refresh() {
  try {
    await Promise.all([askClock(), askActive()]);
    if (byId('version').textContent === '–') await askKey();
    tell('status', 'Live');
  } catch (error) {
    tell('status', 'The node does not answer: ' + error.message);
  }
  setTimeout(refresh, document.hidden ? 5000 : 1000);
}

byId('choice').addEventListener('submit', (event) => event.preventDefault());
byId('cycles').addEventListener('change', () => askActive().catch((error) => tell('status', error.message)));
setInterval(showClock, 50);
refresh();
`;
