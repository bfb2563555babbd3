// The tools that code below asks for by a port. Without its line here a tool is missing, and what needs it says so.
import { limitFileReader } from './gateway/pasted.js';
import { addLimitFileReader } from './limiter/products/limit-files.js';
import { addTool } from './schema/optional-package.js';

export function addTools(): void {
  addLimitFileReader(limitFileReader);
  addTool('workers', async () => (await import('./live/workers.js')).workers);
}
