// The limits of a gateway's file or folder that `--limit` names.
import type { GatewayFiles, GatewayReplay } from '../../harness/simulate/replay.js';
import { warn } from '../../report/command/say.js';
import type { GatewayLimits } from './found.js';
import { noSuchPlace } from './limit-at.js';
import { filesIn } from './limit-files.js';
import { LimitReplay } from './limit-replay.js';
import { fittingLimits } from './limit-rule.js';
import { limitersInFiles } from './limits-in.js';
import { notRead } from './unread-formats.js';

/** @throws Failure `invalid_definition` if the files have no limit, or not at the location that is named */
export async function replayThrough({ file, location }: GatewayFiles): Promise<GatewayReplay> {
  const gateway = await limitsAt(file, location);
  const { notUnderstood, notApplied } = gateway;
  return {
    notes: [...notUnderstood, ...notApplied].map((one) => `${one.file}:${one.line}: ${one.what}.`),
    begin: (paths, options) => new LimitReplay(paths, gateway, options),
  };
}

async function limitsAt(file: string, location: string | undefined): Promise<GatewayLimits> {
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
