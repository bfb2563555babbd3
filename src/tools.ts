// The tools that code below asks for by a port. Without its line here a tool is missing, and what needs it says so.
import { addLimitFileReader } from './core/limiter/products/limit-files.js';
import { addTool } from './core/schema/optional-package.js';
import { limitFileReader } from './tools/gateway/pasted.js';

export function addTools(): void {
  addLimitFileReader(limitFileReader);
  addTool('gateway', async () => (await import('./tools/gateway/given-limits.js')).gateway);
  addTool('workers', async () => (await import('./tools/workers/workers.js')).workers);
}
