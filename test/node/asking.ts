// Owns asking a node by its address, and reading its figures. Leaves nodes within the process of the test to running.ts.

/** What a node answers, as JSON. @throws where it answers with a fault of its own */
export async function ask(url: string, method: string, path: string, key?: string, body?: object): Promise<any> {
  const headers: Record<string, string> = {};
  if (key !== undefined) headers['authorization'] = `Bearer ${key}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const answer = JSON.parse(await response.text());
  if (response.status >= 500) throw new Error(`${method} ${path}: ${answer.detail}`);
  return answer;
}

/** The text of GET /metrics. */
export async function metricsOf(url: string): Promise<string> {
  // A connection of its own: one that was kept may be closed by the node while the request is on its way.
  return (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
}

/** One figure without labels. */
export function figureIn(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1]);
}

/** All figures of a text of metrics, by name and labels. */
export function seriesIn(metrics: string): ReadonlyMap<string, number> {
  const lines = metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => /^(.*) (.*)$/.exec(line)!).map(([, series, figure]) => [series!, Number(figure)]));
}

/** Bytes as whole megabytes. */
export function mb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
