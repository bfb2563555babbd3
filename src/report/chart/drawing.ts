// Loads canvas and fonts on first use. Weir can be installed without the canvas.
import { Failure } from '../../core/schema/failure.js';
import { needing } from '../../core/schema/optional-package.js';

type Drawing = typeof import('./png.js');

export function drawing(): Promise<Drawing> {
  return needing('charts', import('./png.js'));
}

let isWarned = false;

/** For pictures in report folders: without the canvas they are omitted, with one warning per process. */
export async function drawingIfInstalled(): Promise<Drawing | undefined> {
  try {
    return await drawing();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (!isWarned) process.emitWarning(`${error.what} ${error.why} ${error.fix}`, { code: error.code });
    isWarned = true;
    return undefined;
  }
}
