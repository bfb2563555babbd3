// Combined logs of any length that look like real ones, made from a seed.

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const agents = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36',
  'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0',
  'UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/',
];

/** One request as it was made up, to compare with what is read. */
export interface SyntheticRequest {
  readonly unixMs: number;
  readonly client: string;
}

/**
 * Lines of a combined log, 12.5 requests a second on average, a few seconds out of order as real ones are.
 * @param clients how many addresses there are; low ones come more often
 * @param onLine takes each line, with its line feed, and the request that it stands for
 */
export function synthesiseLog(
  lines: number,
  clients: number,
  seed: number,
  onLine: (line: string, request: SyntheticRequest) => void,
): void {
  const random = xorshift(seed);
  let nowMs = Date.UTC(2015, 4, 17, 10, 5, 3);
  for (let i = 0; i < lines; i++) {
    nowMs += random() * 160;
    const unixMs = Math.floor(nowMs / 1000 - random() * 3) * 1000;
    const rank = Math.floor(clients * random() * random());
    const client = `10.${rank >> 16}.${(rank >> 8) & 255}.${rank & 255}`;
    const url = `/presentations/logstash-monitorama-2013/images/${Math.floor(random() * 1e6)}.png`;
    const agent = agents[Math.floor(random() * agents.length)];
    const bytes = Math.floor(random() * 1e5);
    onLine(
      `${client} - - [${clfTime(unixMs)}] "GET ${url} HTTP/1.1" 200 ${bytes} "http://semicomplete.com/" "${agent}"\n`,
      { unixMs, client },
    );
  }
}

export function clfTime(unixMs: number): string {
  const iso = new Date(unixMs).toISOString();
  const month = months[Number(iso.slice(5, 7)) - 1];
  return `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
}

/** Numbers in [0, 1), the same for the same seed (which is not 0). */
function xorshift(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
