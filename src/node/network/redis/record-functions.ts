// The Redis functions for machines, contracts that Redis does not count itself, and audit records.
//
//   entry     written by the counting or moving node, by cycle       w:<slug>
//   row       the entry with seq, hash, proof and signature          r:<slug>, a stream whose ids are the seqs
//
// Entries become rows in order of their cycles. An entry is linked only when no gate of its machine that is due earlier can still write one
// before it. Rows must follow exactly the head that the linking node has read: of two nodes that link at once, one is refused. The lease
// keeps them from trying.
//
// A contract that Redis does not count is a hash with a version and its state; writers name the version that they have read.

export const recordFunctions = `
-- Whether the machine is there, and not deleted.
local function hasMachine()
  local found = call('HMGET', P .. 'm:' .. slug, 'image', 'end')
  return found[1] and not found[2]
end

-- slug, image, entry, genesis
local function makeMachine(args)
  slug = args[3]
  if call('HSETNX', P .. 'm:' .. slug, 'image', args[4]) == 0 then return 0 end
  call('HSET', P .. 'm:' .. slug, 'seq', 0, 'hash', args[6], 'cycle', 0, 'contracts', 0)
  return enter(today, args[5])
end

-- The name that the owner of a contract gave it.
local function nameIn(image) return string.match(image, '^{"id":"[^"]+","name":"([^"]+)"') end

-- slug, id, image, entry, threshold or the first state, within or '', when it is due or -1
-- Number of the entry; 0: there is no such machine, -1: the name is taken.
local function makeContract(args)
  slug = args[3]
  local machine = P .. 'm:' .. slug
  if not hasMachine() then return 0 end
  local name = slug .. '/' .. args[4]
  local called = nameIn(args[5])
  if called and call('HSETNX', machine, 'n:' .. called, args[4]) == 0 then return -1 end
  if args[8] ~= '' then
    make(name, tonumber(args[7]), tonumber(args[8]))
    write()
  else
    call('HSET', P .. 'g:' .. name, 'v', 1, 's', args[7])
  end
  local field = string.format('c:%08d', call('HINCRBY', machine, 'contracts', 1))
  call('HSET', machine, field, args[5], 'i:' .. args[4], field)
  return enter(today, args[6])
end

-- slug, entry
local function note(args)
  slug = args[3]
  if not hasMachine() then return 0 end
  return enter(today, args[4])
end

-- The entry is behind all others of the machine.
local function enterLast(entry)
  local last = call('ZRANGE', P .. 'w:' .. slug, -1, -1, 'WITHSCORES')
  return enter(max(today, tonumber(last[2] or 0), tonumber(call('HGET', P .. 'm:' .. slug, 'cycle') or 0)), entry)
end

-- Changes a contract: slug, id, the new image, entry, then of a gate of the plain two states threshold, within and both states,
-- the initial one first; of another its version. Number of the entry; 0: there is none, -1: it has moved, -2: the name is taken.
local function changeContract(args)
  slug = args[3]
  local machine, id, name = P .. 'm:' .. slug, args[4], args[3] .. '/' .. args[4]
  local field = call('HGET', machine, 'i:' .. id)
  if not field or not isThere(name) then return 0 end
  if #args == 7 and call('HGET', P .. 'g:' .. name, 'v') ~= args[7] then return -1 end
  local before, after, entry = nameIn(call('HGET', machine, field)), nameIn(args[5]), args[6]
  if after and after ~= before and call('HSETNX', machine, 'n:' .. after, id) == 0 then return -2 end
  if before and after ~= before then call('HDEL', machine, 'n:' .. before) end
  call('HSET', machine, field, args[5])
  call('HINCRBY', machine, 'changed', 1)
  if #args == 7 then return enter(today, entry) end
  read(name)
  advance(today)
  local differs = follow(tonumber(args[7]), tonumber(args[8]))
  local number = enter(today, (string.gsub(entry, '"@"', '"' .. args[9 + limiting] .. '"', 2)))
  if differs then settle() end
  write()
  schedule()
  return number
end

-- Deletes a contract: slug, entry, id. Its image is kept until the entries before this one are linked. Number of the entry; 0: there is none.
local function deleteContract(args)
  slug = args[3]
  local machine, id = P .. 'm:' .. slug, args[5]
  local field = call('HGET', machine, 'i:' .. id)
  if not field or not isThere(slug .. '/' .. id) then return 0 end
  local image = call('HGET', machine, field)
  stop(id)
  noteDue(slug)
  local called = nameIn(image)
  if called then call('HDEL', machine, 'n:' .. called) end
  call('HDEL', machine, field, 'i:' .. id)
  call('HSET', machine, 'x:' .. id, image)
  call('HINCRBY', machine, 'removed', 1)
  return enterLast(args[4])
end

-- Deletes a machine with its contracts: slug, entry, when it ends, in unix ms, and the cycle. Number of the entry; 0: there is none
-- Its contracts are not there from now on. What is kept of them is removed by and by, once the record has ended.
local function deleteMachine(args)
  slug = args[3]
  local machine = P .. 'm:' .. slug
  if not hasMachine() then return 0 end
  call('SADD', P .. 'ended', slug)
  call('UNLINK', P .. 'd:' .. slug)
  noteDue(slug)
  call('HSET', machine, 'end', args[5])
  return enterLast(args[4])
end

-- Removes what is left of what was deleted: most keys. 1 where there are more.
local function sweep(args)
  return sweepSome(tonumber(args[3]))
end

-- Removes the record of a machine that was deleted: slug, the instant up to which its end must lie. 1 where it did.
local function removeMachine(args)
  slug = args[3]
  local ended = tonumber(string.match(call('HGET', P .. 'm:' .. slug, 'end') or '', '^%d+'))
  if not (ended and ended <= tonumber(args[4])) or call('EXISTS', P .. 'w:' .. slug) == 1 or isOver(slug) then return 0 end
  for _, kind in ipairs({ 'm:', 'r:', 'd:' }) do call('UNLINK', P .. kind .. slug) end
  call('SREM', P .. 'todo', slug)
  call('ZREM', P .. 'due', slug)
  return 1
end

-- gate: the string of a plain one, or version and state of another; 0 for a key that is not there, -1 without its contract
local function look(args)
  local name = args[3]
  local place = P .. 'g:' .. name
  local kind = call('TYPE', place).ok
  if isOver(name) then return -1 end
  if kind == 'string' then return call('GET', place) end
  if kind == 'hash' then return call('HMGET', place, 'v', 's') end
  return call('EXISTS', P .. 'g:' .. string.match(name, '^[^/]+/[^/]+')) - 1
end

-- gate, version that was read (0 for none), state, due cycle or -1, list of keys or '', most keys, cycle from which the key
-- remembers nothing, cycle of the first entry, (cycle and entry)...: number of the last entry, 0 for none; -1: too many keys, -2: no such contract,
-- -3: another node was first
local function commit(args)
  local name = args[3]
  local key = P .. 'g:' .. name
  slug = string.match(name, '^[^/]+')
  if not isThere(string.match(name, '^[^/]+/[^/]+')) then return -2 end
  local version = tonumber(call('HGET', key, 'v') or 0)
  if version ~= tonumber(args[4]) then return -3 end
  local machine = P .. 'm:' .. slug
  if #args > 10 and tonumber(args[10]) < tonumber(call('HGET', machine, 'cycle') or 0) then return -3 end
  if args[7] ~= '' then
    if version == 0 then
      if call('ZCARD', args[7]) >= tonumber(args[8]) then
        local oldest = call('ZRANGE', args[7], 0, 0, 'WITHSCORES')
        if call('ZSCORE', P .. 'd:' .. slug, '!' .. oldest[1]) or tonumber(oldest[2]) > today then return -1 end
        call('DEL', P .. 'g:' .. oldest[1])
        call('ZREM', args[7], oldest[1])
      end
    end
    call('ZADD', args[7], args[9], name)
  end
  call('HSET', key, 'v', version + 1, 's', args[5])
  if args[6] == '-1' then call('ZREM', P .. 'd:' .. slug, '!' .. name) else call('ZADD', P .. 'd:' .. slug, args[6], '!' .. name) end
  noteDue(slug)
  local number = 0
  for i = 11, #args do number = enter(tonumber(string.match(args[i], '^%d+')), string.match(args[i], '{.*')) end
  return number
end

-- node, lease in ms, most machines: machines that have entries
local function toLink(args)
  local holder = call('GET', P .. 'lease')
  if holder and holder ~= args[3] then return {} end
  local machines = call('SRANDMEMBER', P .. 'todo', tonumber(args[5]))
  if #machines > 0 then call('SET', P .. 'lease', args[3], 'PX', args[4]) end
  return machines
end

-- slug, most entries: the head, and the entries that nothing can come before any more
local function entries(args)
  slug = args[3]
  local first = call('ZRANGE', P .. 'd:' .. slug, 0, 0, 'WITHSCORES')
  local waiting = call('ZRANGEBYSCORE', P .. 'w:' .. slug, '-inf', first[2] or '+inf', 'LIMIT', 0, tonumber(args[4]))
  return { call('HMGET', P .. 'm:' .. slug, 'seq', 'hash', 'cycle', 'at'), waiting }
end

-- slug, seq and hash that the rows follow, number of entries, the last of them, checkpoint, cycle, at, seq and hash of the new head, (row)...
local function link(args)
  slug = args[3]
  local machine = P .. 'm:' .. slug
  local head = call('HMGET', machine, 'seq', 'hash')
  if head[1] ~= args[4] or head[2] ~= args[5] then return 0 end
  local most = tonumber(args[6])
  if call('ZRANK', P .. 'w:' .. slug, args[7]) ~= most - 1 then return 0 end
  local seq = tonumber(args[4])
  local bytes = tonumber(call('HGET', machine, 'bytes') or 0)
  for i = 13, #args do
    seq = seq + 1
    bytes = bytes + #args[i]
    call('XADD', P .. 'r:' .. slug, seq .. '-0', 'row', args[i])
  end
  for _, entry in ipairs(call('ZRANGE', P .. 'w:' .. slug, 0, most - 1)) do
    local deleted, rest = string.match(entry, '^%d+{"e":{"kind":"(%a+)_deleted"(.*)')
    if deleted == 'contract' then call('HDEL', machine, 'x:' .. string.match(rest, '^,"contract_id":"([^"]+)"')) end
    if deleted == 'machine' then call('SADD', P .. 'over', slug) end
    if deleted or string.find(entry, '"cause":"manual"', 1, true) then
      local at = call('ZRANK', P .. 'w:' .. slug, entry)
      call('SET', P .. 's:' .. slug .. ':' .. tonumber(string.sub(entry, 1, 16)), tonumber(args[4]) + at + 1, 'PX', 60000)
    end
  end
  call('ZREMRANGEBYRANK', P .. 'w:' .. slug, 0, most - 1)
  if call('ZCARD', P .. 'w:' .. slug) == 0 then call('SREM', P .. 'todo', slug) end
  call('HSET', machine, 'seq', args[11], 'hash', args[12], 'cycle', args[9], 'at', args[10], 'checkpoint', args[8], 'bytes', format('%d', bytes))
  call('PUBLISH', 'weir:rows', slug .. ' ' .. args[11])
  return 1
end

-- A turn to make what counts for owners: its id, until when, in unix ms, or 0 where its turn is over, the machine on which it makes something
-- The machine of a turn that was not given back, else ''; nothing where it is another's turn.
local function takeTurn(args)
  local holder, ends, left = string.match(call('GET', P .. 'turn') or '- 0 ', '^(%S+) (%d+) (.*)$')
  if holder ~= args[3] and (tonumber(ends) >= now or args[4] == '0') then return end
  call('SET', P .. 'turn', table.concat({ args[3], args[4], args[5] }, ' '))
  return left
end

define('$turn', { 'allow-oom' }, takeTurn)
define('$machine', {}, makeMachine)
define('$contract', {}, makeContract)
define('$change', {}, changeContract)
define('$note', {}, note)
define('$endcontract', { 'allow-oom' }, deleteContract)
define('$endmachine', { 'allow-oom' }, deleteMachine)
define('$sweep', { 'allow-oom' }, sweep)
define('$remove', { 'allow-oom' }, removeMachine)
define('$look', { 'no-writes' }, look)
define('$commit', { 'allow-oom' }, commit)
define('$tolink', {}, toLink)
define('$entries', { 'no-writes' }, entries)
define('$link', {}, link)
`;
