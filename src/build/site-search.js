// Search page of the site: the sections that contain all words, matches in titles first. All sections are in the page, so it makes no
// requests.
const sections = JSON.parse(document.getElementById('sections').textContent);
const field = document.querySelector('input');
const list = document.querySelector('ol');
const MOST = 30;
const AROUND = 90;

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = sections
    .map((section) => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank);
  list.replaceChildren(...found.slice(0, MOST).map(({ section }) => item(section, words[0])));
  const count = found.length === 1 ? '1 section' : `${found.length} sections`;
  document.querySelector('output').textContent = words.length === 0 ? '' : count;
}

/** 0: a word is missing. */
function rankOf({ title, text }, words) {
  const [head, all] = [title.toLowerCase(), `${title} ${text}`.toLowerCase()];
  if (words.length === 0 || words.some((word) => !all.includes(word))) return 0;
  return 1 + words.filter((word) => head.includes(word)).length;
}

function item({ href, title, text }, word) {
  const link = document.createElement('a');
  link.href = href;
  link.textContent = title;
  const from = Math.max(0, text.toLowerCase().indexOf(word) - AROUND);
  const excerpt = document.createElement('p');
  excerpt.textContent = `${from > 0 ? '…' : ''}${text.slice(from, from + 2 * AROUND)}…`;
  const line = document.createElement('li');
  line.append(link, excerpt);
  return line;
}

field.addEventListener('input', show);
show();
