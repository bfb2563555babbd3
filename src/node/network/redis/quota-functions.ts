// The quotas of owners, counted in Redis: these functions enforce the bounds of a network whichever node is asked. All their keys share the
// slot of the directory.
//
//   claim ─► room? taken ─► machine or contract made in the slot of its machine ─► the claim is settled
//              └ none: refused          └ refused there ─► released                    └ its node ended before: looked up later
//
//   deleted ─► its claim is opened again ─► deleted in the slot of its machine ─► released
//
//   u:<owner>, u     amounts by name, of an owner and of all; for an owner also each item with its amounts
//   claims           items that may not exist (yet), by the instant after which they either exist or never will
//   k:<owner>        ids of keys, by the instant at which they expire
import { QUOTAS } from '../../usage.js';

const names = QUOTAS.map((name) => `'${name}'`).join(', ');

export const quotaFunctions = `
local function amountsOf(place)
  local found = call('HMGET', place, ${names})
  for i = 1, #found do found[i] = tonumber(found[i] or 0) end
  return found
end

-- A definition counts once for an owner, however many contracts follow it.
local function change(of, sign, amounts, digest)
  if digest ~= '' then
    local uses = call('HINCRBY', of, 'd:' .. digest, sign)
    if uses == 0 then call('HDEL', of, 'd:' .. digest) end
    if uses ~= (sign + 1) / 2 then amounts[${QUOTAS.indexOf('definitionBytes') + 1}] = 0 end
  end
  for i, name in ipairs({ ${names} }) do
    call('HINCRBY', of, name, format('%d', sign * amounts[i]))
    call('HINCRBY', P .. 'u', name, format('%d', sign * amounts[i]))
  end
end

-- owner, item, until when it may still be made, digest of its definition or '',
-- (more, most of an owner, most of all)...: nothing where there is room, else what is used, and claims that may not be there
local function claim(args)
  local of, open, member = P .. 'u:' .. args[3], P .. 'claims', args[3] .. ' ' .. args[4]
  local isThere = call('HEXISTS', of, args[4]) == 1
  if isThere and call('ZSCORE', open, member) then
    call('ZADD', open, args[5], member)
    return
  end
  local used, all, amounts = amountsOf(of), amountsOf(P .. 'u'), {}
  for i = 1, #used do
    amounts[i] = tonumber(args[4 + 3 * i])
    local needed = used[i] + amounts[i]
    if needed > tonumber(args[5 + 3 * i]) or needed > tonumber(args[6 + 3 * i]) - all[i] then
      return { used, all, call('ZRANGEBYSCORE', open, '-inf', now, 'LIMIT', 0, 100) }
    end
  end
  if isThere then return end
  call('HSET', of, args[4], table.concat(amounts, ' ') .. ' ' .. args[6])
  change(of, 1, amounts, args[6])
  call('ZADD', open, args[5], member)
end

-- owner, the instant of their claim, or '' for what is not there for certain, (item)...: what they took is free again, unless
-- they were claimed once more since. What is free now.
local function release(args)
  local of, open, freed = P .. 'u:' .. args[3], P .. 'claims', {}
  for i = 1, ${QUOTAS.length} do freed[i] = 0 end
  for i = 5, #args do
    local member, took = args[3] .. ' ' .. args[i], call('HGET', of, args[i])
    if args[4] == '' or tonumber(call('ZSCORE', open, member) or 0) == tonumber(args[4]) then
      call('ZREM', open, member)
      if took then
        local amounts, digest = {}, string.match(took, '[^ ]*$')
        for amount in string.gmatch(string.sub(took, 1, #took - #digest), '[^ ]+') do amounts[#amounts + 1] = tonumber(amount) end
        call('HDEL', of, args[i])
        change(of, -1, amounts, digest)
        for j = 1, #freed do freed[j] = freed[j] + amounts[j] end
      end
    end
  end
  return freed
end

-- owner, id, when it expires, most keys of the owner or -1, the key, what all nodes are told of it, changes kept
local function putKey(args)
  local of = P .. 'k:' .. args[3]
  call('ZREMRANGEBYSCORE', of, '-inf', now)
  if args[6] ~= '-1' and call('ZCARD', of) >= tonumber(args[6]) then return 0 end
  call('ZADD', of, args[5], args[4])
  call('HSET', P .. 'keys', args[4], args[7])
  call('XADD', P .. 'log', 'MAXLEN', '~', args[9], '*', 'change', args[8])
  call('PUBLISH', 'weir:log', '')
  return 1
end

define('$claim', {}, claim)
define('$release', { 'allow-oom' }, release)
define('$putkey', {}, putKey)
`;
