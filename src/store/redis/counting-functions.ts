// Counting in Redis: the functions that count events of gates, move them by hand, and move what is due.
//
//   count ─► for each gate: read, advance to the cycle of Redis, feed, write ─► admitted, count, cycle, state
//
// Those that count work also when Redis has no memory left: what they write does not grow, but for an entry now and then.

/** Keys of deleted contracts that a node removes in a cycle, where the one that deleted them has not. */
const SWEPT_A_CYCLE = 100;

/** As `gateFunctions`, and behind them. */
export const countingFunctions = `
-- deadline, cycle ms, (gate, events)...
local function count(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  local reply, at = { now, 0, 0, 0, 0 }, 2
  for i = 3, #args, 2 do
    slug = nil
    local n = tonumber(args[i + 1])
    if read(args[i]) then
      local isNew = today > cycle
      if isNew then advance(today) end
      local admitted = feed(n)
      if isNew or isUnscheduled then write() elseif n > 0 then writeTotal() end
      if isUnscheduled then schedule() end
      answer(reply, at, admitted)
    else
      reply[at], reply[at + 1], reply[at + 2], reply[at + 3] = -1, 0, 0, 0
    end
    at = at + 4
  end
  announce()
  return reply
end

-- Takes the key that has not counted for longest away if nothing is lost. The gate at work is another one after this.
local function forgetOne(list)
  local oldest = call('ZRANGE', list, 0, 0, 'WITHSCORES')
  if not oldest[1] or not read(oldest[1]) or tonumber(oldest[2]) + within > today then return false end
  advance(today)
  if limiting == 1 or held > today or total > base then
    write()
    schedule()
    return false
  end
  call('DEL', key)
  call('ZREM', list, gate)
  call('ZREM', P .. 'd:' .. string.match(gate, '^[^/]+'), gate)
  return true
end

-- Keys of a contract that was deleted may still be there: none counts without the gate of its contract.
-- deadline, cycle ms, (gate of the key, events, threshold, within, most keys, 1 to share)...
local function countKeys(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  local reply, at = { now, 0, 0, 0, 0 }, 2
  for i = 3, #args, 6 do
    slug = nil
    local name, n = args[i], tonumber(args[i + 1])
    local owner = string.match(name, '^[^/]+/[^/]+')
    local list, isNew = P .. 'k:' .. owner, not read(name)
    local isThere, refused = true, -2
    if call('EXISTS', P .. 'g:' .. owner) == 0 then
      isThere, refused = false, -1
    elseif isNew and n > 0 then
      if call('ZCARD', list) < tonumber(args[i + 4]) or forgetOne(list) then
        make(name, tonumber(args[i + 2]), tonumber(args[i + 3]))
      elseif args[i + 5] == '1' then
        name, isThere = owner, read(owner)
      else
        isThere = false
      end
    elseif isNew then
      make(name, tonumber(args[i + 2]), tonumber(args[i + 3]))
    end
    if isThere then
      slug = nil
      local isLater = isNew or today > cycle
      advance(today)
      local admitted = feed(n)
      if n > 0 or not isNew then write() end
      if isLater and n > 0 and name ~= owner then call('ZADD', list, cycle, name) end
      if isUnscheduled then schedule() end
      answer(reply, at, admitted)
    else
      reply[at], reply[at + 1], reply[at + 2], reply[at + 3] = refused, 0, 0, 0
    end
    at = at + 4
  end
  announce()
  return reply
end

-- Events of an earlier cycle: deadline, cycle ms, gate, events, the cycle in which they happened; for a key: threshold, within, most keys
local function countLate(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  slug = nil
  local reply = { now, -1, 0, 0, 0 }
  local n, happened = tonumber(args[4]), tonumber(args[5])
  local owner = string.match(args[3], '^[^/]+/[^/]+')
  if call('EXISTS', P .. 'g:' .. owner) == 0 then return reply end
  if not read(args[3]) then
    local list = P .. 'k:' .. owner
    if call('ZCARD', list) >= tonumber(args[8]) and not forgetOne(list) then
      reply[2] = -2
      return reply
    end
    slug = nil
    make(args[3], tonumber(args[6]), tonumber(args[7]))
    call('ZADD', list, today, gate)
  end
  advance(today)
  if happened > cycle or happened <= cycle - within then
    write()
    reply[2] = -3
    reply[4] = cycle
    return reply
  end
  for c = happened, cycle - 1 do
    local value = slot(c)
    call('SETRANGE', key, format('%d', BYTES + (c % within) * 8), pack('<d', value + n))
  end
  late = late + 1
  local admitted = feed(n)
  write()
  if isUnscheduled then schedule() end
  answer(reply, 2, admitted)
  announce()
  return reply
end

-- A manual transition: deadline, cycle ms, gate, 1 for limiting, cycles of the hold, who asks or ''; for a key: threshold, within, most keys, 1 to share
-- Number of the entry; 0: it is in that state already, -1: no such gate, -2: too many keys.
local function moveTo(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  local name, to, by = args[3], tonumber(args[4]), args[6]
  if by == '' then by = nil end
  slug = nil
  local owner = string.match(name, '^[^/]+/[^/]+')
  if call('EXISTS', P .. 'g:' .. owner) == 0 then return { now, -1 } end
  if not read(name) then
    local list = P .. 'k:' .. owner
    if call('ZCARD', list) < tonumber(args[9]) or forgetOne(list) then
      make(name, tonumber(args[7]), tonumber(args[8]))
    elseif args[10] ~= '1' or not read(owner) then
      return { now, -2 }
    end
  end
  advance(today)
  if args[7] and gate == name then call('ZADD', P .. 'k:' .. string.match(name, '^[^/]+/[^/]+'), cycle, name) end
  local number = 0
  if limiting ~= to then
    held = cycle + tonumber(args[5])
    number = move(to, 'manual', by)
  end
  write()
  if isUnscheduled then schedule() end
  announce()
  return { now, number }
end

-- Removes keys of contracts that were deleted. 1 where there are more.
local function sweepKeys(left)
  while left > 0 do
    local name = call('SRANDMEMBER', P .. 'gone')
    if not name then return 0 end
    local machine, list = string.match(name, '^[^/]+'), P .. 'k:' .. name
    local found = call('ZRANGE', list, 0, left - 1)
    for _, one in ipairs(found) do
      call('UNLINK', P .. 'g:' .. one)
      call('ZREM', P .. 'd:' .. machine, one, '!' .. one)
    end
    if #found > 0 then call('ZREMRANGEBYRANK', list, 0, #found - 1) end
    if call('EXISTS', list) == 0 then call('SREM', P .. 'gone', name) end
    noteDue(machine)
    left = left - #found - 1
  end
  return call('EXISTS', P .. 'gone')
end

-- Moves what is due: deadline, cycle ms, most gates. Returns those whose time has come and that count elsewhere.
local function moveDue(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  local left, others = tonumber(args[3]), {}
  for _, machine in ipairs(call('ZRANGEBYSCORE', P .. 'due', '-inf', today, 'LIMIT', 0, left)) do
    slug = machine
    for _, name in ipairs(call('ZRANGEBYSCORE', P .. 'd:' .. machine, '-inf', today, 'LIMIT', 0, left)) do
      if call('EXISTS', P .. 'g:' .. string.match(name, '^!?([^/]+/[^/]+)')) == 0 then
        call('ZREM', P .. 'd:' .. machine, name)
        noteDue(machine)
      elseif string.sub(name, 1, 1) == '!' then others[#others + 1] = name
      elseif read(name) then
        advance(today)
        write()
        schedule()
      else
        call('ZREM', P .. 'd:' .. machine, name)
        noteDue(machine)
      end
      left = left - 1
    end
    announce()
    moves = 0
    if left <= 0 then break end
  end
  sweepKeys(${SWEPT_A_CYCLE})
  return others
end

redis.register_function({ function_name = '$count', callback = count, flags = { 'allow-oom' } })
redis.register_function({ function_name = '$keys', callback = countKeys, flags = { 'allow-oom' } })
redis.register_function({ function_name = '$late', callback = countLate, flags = { 'allow-oom' } })
redis.register_function({ function_name = '$move', callback = moveTo })
redis.register_function({ function_name = '$due', callback = moveDue, flags = { 'allow-oom' } })
`;
