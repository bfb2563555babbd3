// Writes a request as a line of a combined log, but with milliseconds: they determine its cycle.
//
//   10.0.0.7 - - [01/Jan/2026:00:00:03.123 +0000] "GET /item/4 HTTP/1.1" 200 512 "-" "weir"
//   |client|      |------- ms, UTC -------|

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

export const MOST_CLIENTS = 2 ** 24 - 1;

/** No line feed. `unixMs` in the years 0 to 9999, `client` below MOST_CLIENTS; `number` selects one of 100 pages. */
export function combinedLine(unixMs: number, client: number, number: number): string {
  return `${clientAddress(client)} - - [${clfTime(unixMs)}] "GET /item/${number % 100} HTTP/1.1" 200 512 "-" "weir"`;
}

/** In 10.0.0.0/8: client 0 has 10.0.0.1, client 255 has 10.0.1.0. */
export function clientAddress(client: number): string {
  const host = client + 1;
  return `10.${(host >>> 16) & 255}.${(host >>> 8) & 255}.${host & 255}`;
}

function clfTime(unixMs: number): string {
  const iso = new Date(Math.floor(unixMs)).toISOString();
  const month = MONTHS[Number(iso.slice(5, 7)) - 1];
  return `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 23)} +0000`;
}
