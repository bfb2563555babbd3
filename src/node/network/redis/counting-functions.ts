// The Redis functions that count events of gates, move gates by hand, and fire due transitions.
//
//   count ─► for each gate: take up, which advances it to the cycle of Redis, feed, write ─► admitted, count, cycle, state
//
// Counting works even when Redis is out of memory: apart from an occasional entry, its writes do not grow.

/** Keys of deleted contracts removed per cycle, if the deleting node has not done it. */
const SWEPT_A_CYCLE = 100;

/** Cost of removing a contract of a deleted machine, in keys: some 11 µs. */
const CONTRACT_COSTS = 10;

/** Keys per call that adopt new numbers: each takes some 10 µs. */
const FOLLOWED_AT_ONCE = 100;

export const countingFunctions = `
-- Evicts the key that has not counted for longest if nothing is lost. The gate at work is another one after this.
local function evictOne(list, most, length)
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

-- Whether the gate at work was made by this call; whether it is in another cycle than when it was written.
local isMade, isLater

-- Takes up the gate of a contract, or of a key, in this cycle: a key is made with its first request if there is room for it.
-- keys: the most of its contract, below 0 where further ones share its gate; 0 for the contract itself. Keys of a contract that was deleted may
-- still be there: none counts without the gate of its contract.
-- Nothing, or why not: -1 there is no such contract, -2 there is no room.
local function take(name, keys, isCounting)
  slug, isMade = nil, false
  if keys == '0' then
    if not read(name) then return -1 end
    isLater = today > cycle
    advance(today)
    return
  end
  local owner = string.match(name, '^[^/]+/[^/]+')
  local list, most, length = P .. 'k:' .. owner, numbersOf(owner)
  if not most then return -1 end
  if not read(name) then
    local room = tonumber(keys)
    if not isCounting or call('ZCARD', list) < math.abs(room) or evictOne(list, most, length) then
      slug, isMade = nil, true
      make(name, most, length)
    elseif room > 0 or not read(owner) then return -2 end
  end
  isLater = isMade or today > cycle
  advance(today)
  follow(most, length)
  if isCounting and isLater and gate == name then call('ZADD', list, cycle, name) end
end

-- (gate, events, of a key with those of its contract: '3 100')...: of each gate admitted, count, cycle and state; in place of the first why it was not counted
local function count(args)
  local reply, at = {}, 1
  for i = 3, #args, 2 do
    local n, keys = tonumber(args[i + 1]), '0'
    if not n then
      n, keys = string.match(args[i + 1], '^(%d+) (.+)$')
      n = tonumber(n)
    end
    local refused = take(args[i], keys, n > 0)
    if refused then
      reply[at], reply[at + 1], reply[at + 2], reply[at + 3] = refused, 0, 0, 0
    else
      local admitted = feed(n)
      if isMade and n == 0 then isUnscheduled = false
      elseif isLater or isUnscheduled then write()
      elseif n > 0 then writeTotal() end
      if isUnscheduled then schedule() end
      answer(reply, at, admitted)
    end
    at = at + 4
  end
  return reply
end

-- Events of an earlier cycle: gate, events, keys, the cycle in which they happened. As count; -3: it is too old, or to come
local function countLate(args)
  local n, happened = tonumber(args[4]), tonumber(args[6])
  local refused = take(args[3], args[5], true)
  if refused then return { refused, 0, 0, 0 } end
  if happened > cycle or happened <= cycle - within then
    write()
    return { -3, 0, cycle, 0 }
  end
  for c = happened, cycle - 1 do
    local value = slot(c)
    call('SETRANGE', key, format('%d', BYTES + (c % within) * 8), pack('<d', value + n))
  end
  late = late + 1
  local reply, admitted = {}, feed(n)
  write()
  if isUnscheduled then schedule() end
  answer(reply, 1, admitted)
  return reply
end

-- A manual transition: gate, keys, 1 for limiting, cycles of the hold, who asks or ''
-- Number of the entry; 0: it is in that state already, or why there is none.
local function moveTo(args)
  local refused, to, by = take(args[3], args[4], true), tonumber(args[5]), args[7]
  if refused then return refused end
  if by == '' then by = nil end
  local number = 0
  if limiting ~= to then
    held = cycle + tonumber(args[6])
    number = move(to, 'manual', by)
  end
  write()
  if isUnscheduled then schedule() end
  return number
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
        local id = string.match(image, '^{"id":"([^"]+)"')
        stop(id)
        call('HDEL', machine, field, 'i:' .. id)
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

-- Has the keys of a contract follow its numbers: gate of the contract, cursor. The next cursor; '0' after the last.
local function followKeys(args)
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
  return found[1]
end

-- Moves what is due: most gates. Returns those whose time has come and that count elsewhere.
local function moveDue(args)
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
    if left <= 0 then break end
  end
  sweepSome(${SWEPT_A_CYCLE})
  return others
end

define('$count', { 'allow-oom' }, count)
define('$late', { 'allow-oom' }, countLate)
define('$move', {}, moveTo)
define('$follow', { 'allow-oom' }, followKeys)
define('$due', { 'allow-oom' }, moveDue)
`;
