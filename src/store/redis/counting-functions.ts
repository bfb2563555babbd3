// Counting in Redis: the functions that count events of gates, move them by hand, and move what is due.
//
//   count ─► for each gate: read, advance to the cycle of Redis, feed, write ─► admitted, count, cycle, state
//
// Those that count work also when Redis has no memory left: what they write does not grow, but for an entry now and then.

/** Keys of deleted contracts that a node removes in a cycle, where the one that deleted them has not. */
const SWEPT_A_CYCLE = 100;

/** A contract of a deleted machine takes at most as long to remove as so many keys: some 11 µs. */
const CONTRACT_COSTS = 10;

/** Keys that follow new numbers in one call: each takes some 10 µs. */
const FOLLOWED_AT_ONCE = 100;

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
local function forgetOne(list, most, length)
  local oldest = call('ZRANGE', list, 0, 0, 'WITHSCORES')
  if not oldest[1] or not read(oldest[1]) or tonumber(oldest[2]) + length > today then return false end
  advance(today)
  follow(most, length)
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
-- deadline, cycle ms, (gate of the key, events, threshold and within that the node knows, most keys, 1 to share)...
local function countKeys(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  local reply, at = { now, 0, 0, 0, 0 }, 2
  for i = 3, #args, 6 do
    slug = nil
    local name, n = args[i], tonumber(args[i + 1])
    local owner = string.match(name, '^[^/]+/[^/]+')
    local list, isNew = P .. 'k:' .. owner, not read(name)
    local hasPlace, refused = true, -2
    local most, length = numbersOf(owner)
    if not most then
      hasPlace, refused = false, -1
    elseif isNew and n > 0 then
      if call('ZCARD', list) < tonumber(args[i + 4]) or forgetOne(list, most, length) then
        make(name, most, length)
      elseif args[i + 5] == '1' then
        name, hasPlace = owner, read(owner)
      else
        hasPlace = false
      end
    elseif isNew then
      make(name, most, length)
    end
    if hasPlace then
      slug = nil
      local isLater = isNew or today > cycle
      advance(today)
      follow(most, length)
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
  local most, length = numbersOf(owner)
  if not most then return reply end
  if not read(args[3]) then
    local list = P .. 'k:' .. owner
    if call('ZCARD', list) >= tonumber(args[8]) and not forgetOne(list, most, length) then
      reply[2] = -2
      return reply
    end
    slug = nil
    make(args[3], most, length)
    call('ZADD', list, today, gate)
  end
  advance(today)
  follow(most, length)
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
  local most, length = numbersOf(owner)
  if not most then return { now, -1 } end
  if not read(name) then
    local list = P .. 'k:' .. owner
    if call('ZCARD', list) < tonumber(args[9]) or forgetOne(list, most, length) then
      make(name, most, length)
    elseif args[10] ~= '1' or not read(owner) then
      return { now, -2 }
    end
  end
  advance(today)
  follow(most, length)
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

-- A contract counts no more; its keys are removed by and by.
local function stop(id)
  local name = slug .. '/' .. id
  if call('UNLINK', P .. 'g:' .. name) == 0 then return end
  call('ZREM', P .. 'd:' .. slug, name, '!' .. name)
  if call('EXISTS', P .. 'k:' .. name) == 1 then call('SADD', P .. 'gone', name) end
end

-- Removes contracts of machines whose records have ended, in the order in which they were made. Returns how many keys may still be removed.
local function sweepContracts(left)
  while left > 0 do
    slug = call('SRANDMEMBER', P .. 'over')
    if not slug then return left end
    local machine = P .. 'm:' .. slug
    local found = call('HMGET', machine, 'contracts', 'swept')
    local last, place = tonumber(found[1] or 0), tonumber(found[2] or 0)
    while left > 0 and place < last do
      place, left = place + 1, left - ${CONTRACT_COSTS}
      local field = string.format('c:%08d', place)
      local image = call('HGET', machine, field)
      if image then
        stop(string.match(image, '^{"id":"([^"]+)"'))
        call('HDEL', machine, field)
      end
    end
    if place < last then
      call('HSET', machine, 'swept', place)
    else
      call('HDEL', machine, 'swept')
      call('SREM', P .. 'over', slug)
      call('SREM', P .. 'ended', slug)
      left = left - 1
    end
  end
  return left
end

-- Removes what is left of machines that were deleted, and keys of contracts that were. 1 where there are more.
local function sweepSome(left)
  left = sweepContracts(left)
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
  return call('EXISTS', P .. 'gone', P .. 'over') > 0 and 1 or 0
end

-- Has the keys of a contract follow its numbers: deadline, cycle ms, gate of the contract, cursor. The next cursor; '0' after the last.
local function followKeys(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  slug = nil
  local most, length = numbersOf(args[3])
  if not most then return '0' end
  local found = call('ZSCAN', P .. 'k:' .. args[3], args[4], 'COUNT', ${FOLLOWED_AT_ONCE})
  for i = 1, #found[2], 2 do
    if read(found[2][i]) then
      advance(today)
      follow(most, length)
      if isUnscheduled then
        write()
        schedule()
      end
    end
  end
  announce()
  return found[1]
end

-- Moves what is due: deadline, cycle ms, most gates. Returns those whose time has come and that count elsewhere.
local function moveDue(keys, args)
  if begin(keys[1], tonumber(args[1]), tonumber(args[2])) then return LATE end
  local left, others = tonumber(args[3]), {}
  for _, machine in ipairs(call('ZRANGEBYSCORE', P .. 'due', '-inf', today, 'LIMIT', 0, left)) do
    slug = machine
    for _, name in ipairs(call('ZRANGEBYSCORE', P .. 'd:' .. machine, '-inf', today, 'LIMIT', 0, left)) do
      if not isThere(string.match(name, '^!?([^/]+/[^/]+)')) then
        call('ZREM', P .. 'd:' .. machine, name)
        noteDue(machine)
      elseif string.sub(name, 1, 1) == '!' then others[#others + 1] = name
      elseif read(name) then
        local most, length = numbersOf(string.match(name, '^[^/]+/[^/]+'))
        advance(today)
        follow(most, length)
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
  sweepSome(${SWEPT_A_CYCLE})
  return others
end

redis.register_function({ function_name = '$count', callback = count, flags = { 'allow-oom' } })
redis.register_function({ function_name = '$keys', callback = countKeys, flags = { 'allow-oom' } })
redis.register_function({ function_name = '$late', callback = countLate, flags = { 'allow-oom' } })
redis.register_function({ function_name = '$move', callback = moveTo })
redis.register_function({ function_name = '$follow', callback = followKeys, flags = { 'allow-oom' } })
redis.register_function({ function_name = '$due', callback = moveDue, flags = { 'allow-oom' } })
`;
