// The limits of a gateway's file or folder that `--limit` names.
import { statSync } from 'node:fs';
import { isGatewayFile } from '../../harness/scenario/limit-file.js';
import { filesGiven, readLimiter } from '../../report/command/limit.js';
import { warn } from '../../report/command/say.js';
import type { GatewayLimits } from './found.js';
import { noSuchPlace } from './limit-at.js';
import { fittingLimits } from './limit-changes.js';
import { filesIn } from './limit-files.js';
import { limitersInFiles } from './limits-in.js';
import { notRead } from './unread-formats.js';

/**
 * The limits of a file or folder of a gateway, with the files that it includes; undefined for any other limiter.
 * @throws Failure `invalid_definition` if it has none, or not at the location that is named
 */
export async function gatewayLimitsGiven(given: string): Promise<GatewayLimits | undefined> {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const named = await filesGiven(given);
  if (named === undefined) return undefined;
  const { file, location } = named;
  if (!isFolder(file) && !isGatewayFile(file, readLimiter(file))) return undefined;
  const gateway = fittingLimits(limitersInFiles(await filesIn(file)));
  const { limiters, places, notUnderstood, unread, appliesTo } = gateway;
  if (limiters.length === 0 && unread[0] !== undefined) throw notRead(unread[0].format, file);
  const here = limiters.filter(({ where }) => location === undefined || where === location);
  if (here.length > 0)
    return {
      ...gateway,
      limiters: here,
      appliesTo: (...asked) => appliesTo(...asked).filter((one) => here.includes(one)),
    };
  for (const { file: name, line, what } of notUnderstood) warn(`weir: ${name}:${line}: ${what}.\n`);
  throw noSuchPlace(file, limiters.length === 0 ? [] : places);
}
