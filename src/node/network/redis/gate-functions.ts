// Gates in Redis: the functions that read, advance, feed and write a gate of two plain states.
//
//   gate       a string: head (8 doubles) | ring of doubles, one for each cycle of the window
//   head       cycle | total | base | limiting | held until | late events | threshold | within
//   ring       slot of cycle c, at c % within: the total of all events up to the end of c       count = total - base
//
//              cycle - within ......... cycle - 1 | cycle        base is the slot that leaves next, total has no slot yet:
//              base                               | total        an event writes the head alone, a new cycle one slot more
//
// Nothing is ever summed: when k cycles pass, their slots get the total, and one slot is read. The count of a future cycle is the total
// minus the slot that leaves by then. It never increases, so the cycle of a move is found by bisection.
//
// All keys of a machine have the hash tag of its bucket, so that they lie in one slot of a cluster. KEYS[1] is their prefix:
//
//   g:<slug>/<id>[/<key>]  a gate        k:<slug>/<id>  keys of a contract, by the cycle of their last count
//   d:<slug>  due gates, by cycle        due  machines, by the cycle of their first due gate
//   w:<slug>  entries not yet linked, by cycle      todo  machines that have some      m:<slug>  the machine
//   gone  deleted contracts whose keys are being removed
//   ended  deleted machines that may still have gates, all of them void      over  those whose gates are being removed
//
// Time is that of Redis. Every loop has a bound.

export const HEAD_BYTES = 64;

/** Follows the line that names the library; `$` is the prefix of all functions of this version. */
export const gateFunctions = `
-- None of these is there while the library is loaded.
local call, pack, unpack, format, floor, max, min

local HEAD, BYTES = '<dddddddd', 64

-- Places in a gate, as Redis takes them: a number that is not text is turned into text by the slowest way there is.
local HEAD_FROM, HEAD_TO, TOTAL_FROM = '0', '63', '8'

-- The gate at work. Functions run one at a time.
local P, now, today, key, gate, slug, moves, isUnscheduled, hasEnded
local cycle, total, base, limiting, held, late, threshold, within

-- Registers a function. It gets a deadline, the length of a cycle in ms, and its own arguments from args[3] on; its reply comes behind the time.
local function define(name, flags, body)
  redis.register_function({ function_name = name, flags = flags, callback = function(keys, args)
    if not call then
      call, pack, unpack, format = redis.call, struct.pack, struct.unpack, string.format
      floor, max, min = math.floor, math.max, math.min
    end
    local time = call('TIME')
    P, now, moves, slug = keys[1], time[1] * 1000 + floor(time[2] / 1000), 0, nil
    if tonumber(args[1]) < now then return { err = 'WEIRLATE the deadline has passed' } end
    today = floor(now / tonumber(args[2]))
    hasEnded = call('EXISTS', P .. 'ended') == 1
    local reply = body(args)
    if moves > 0 then call('PUBLISH', 'weir:entries', P) end
    return { now, reply }
  end })
end

-- Whether the machine of a gate was deleted.
local function isOver(name)
  return hasEnded and call('SISMEMBER', P .. 'ended', string.match(name, '^[^/]+')) == 1
end

-- Whether a contract is there, by the name of its gate.
local function isThere(owner)
  return call('EXISTS', P .. 'g:' .. owner) == 1 and not isOver(owner)
end

local function read(name)
  gate, key = name, P .. 'g:' .. name
  isUnscheduled = false
  if isOver(name) then return false end
  local text = call('GETRANGE', key, HEAD_FROM, HEAD_TO)
  if #text < BYTES then return false end
  cycle, total, base, limiting, held, late, threshold, within = unpack(HEAD, text)
  return true
end

local function write()
  call('SETRANGE', key, HEAD_FROM, pack(HEAD, cycle, total, base, limiting, held, late, threshold, within))
end

-- Of a gate that has been read, and has counted and nothing else since.
local function writeTotal()
  call('SETRANGE', key, TOTAL_FROM, pack('<d', total))
end

-- The total at the end of cycle c, which is not before cycle - within.
local function slot(c)
  if c >= cycle then return total end
  local at = BYTES + (c % within) * 8
  local text = call('GETRANGE', key, format('%d', at), format('%d', at + 7))
  if #text < 8 then return 0 end
  return (unpack('<d', text))
end

-- The count of a cycle to come if nothing arrives.
local function countAt(c) return total - slot(c - within) end

-- The first cycle from first on, which is to come, with at most so many; high has.
local function fallsTo(most, first, high)
  local low = first
  while low < high do
    local middle = floor((low + high) / 2)
    if countAt(middle) <= most then high = middle else low = middle + 1 end
  end
  return low
end

local function passTo(c)
  local gap = c - cycle
  if gap >= within then
    if total > 0 then call('SET', key, '') end
    total, base = 0, 0
  elseif total > 0 then
    local leaving = slot(c - within)
    local text, from = pack('<d', total), cycle % within
    local first = min(gap, within - from)
    call('SETRANGE', key, format('%d', BYTES + from * 8), first == 1 and text or string.rep(text, first))
    if gap > first then call('SETRANGE', key, '64', string.rep(text, gap - first)) end
    base = leaving
  end
  cycle = c
end

-- An entry that waits for its link.
local function enter(c, json)
  local number = call('HINCRBY', P .. 'm:' .. slug, 'entries', 1)
  call('ZADD', P .. 'w:' .. slug, c, string.format('%016d', number) .. json)
  call('SADD', P .. 'todo', slug)
  moves = moves + 1
  return number
end

local function move(to, cause, by)
  slug = slug or string.match(gate, '^[^/]+')
  limiting, isUnscheduled = to, true
  return enter(cycle, cjson.encode({ g = gate, to = to, count = total - base, cycle = cycle, now = now, cause = cause, by = by }))
end

local function advance(c)
  if c <= cycle then return end
  local first = max(cycle + 1, held)
  while first <= c do
    if limiting == 1 then
      -- Counts fall: one look at the end says whether there is anything to be found.
      if countAt(c) > threshold then break end
      passTo(fallsTo(threshold, first, c))
      move(0, 'trigger')
    else
      if total - base <= threshold or countAt(first) <= threshold then break end
      passTo(first)
      move(1, 'trigger')
    end
    first = cycle + 1
  end
  if cycle < c then passTo(c) end
end

-- Counts n events. Those that are admitted are the first of them.
local function feed(n)
  if cycle < held then
    total = total + n
    if limiting == 1 then return 0 end
    isUnscheduled = isUnscheduled or total - base > threshold
    return n
  end
  local admitted = 0
  if limiting == 1 and n > 0 and total - base < threshold then
    total, n, admitted = total + 1, n - 1, 1
    move(0, 'trigger')
  end
  if limiting == 0 then
    local room = max(0, threshold - (total - base))
    if n <= room then
      total = total + n
      return admitted + n
    end
    total, n, admitted = total + room + 1, n - room - 1, admitted + room
    move(1, 'trigger')
  end
  total = total + n
  return admitted
end

-- Moves by new numbers in the running cycle.
local function settle()
  if cycle >= held and (total - base > threshold) == (limiting == 0) then move(1 - limiting, 'trigger') end
end

local function noteDue(machine)
  local first = call('ZRANGE', P .. 'd:' .. machine, 0, 0, 'WITHSCORES')
  if first[1] then call('ZADD', P .. 'due', first[2], machine) else call('ZREM', P .. 'due', machine) end
end

-- When the gate moves by itself if nothing arrives.
local function schedule()
  slug = slug or string.match(gate, '^[^/]+')
  local first, at = max(cycle + 1, held), nil
  if limiting == 1 then at = fallsTo(threshold, first, max(first, cycle + within))
  elseif total - base > threshold and countAt(first) > threshold then at = first end
  if at then call('ZADD', P .. 'd:' .. slug, at, gate) else call('ZREM', P .. 'd:' .. slug, gate) end
  noteDue(slug)
end

local function answer(reply, at, admitted)
  reply[at] = admitted
  reply[at + 1] = total - base
  reply[at + 2] = cycle
  reply[at + 3] = limiting + (cycle < held and 2 or 0) + late * 4
end

-- The threshold and the window of a contract, by the name of its gate: its keys follow them. Nothing where it is gone.
local function numbersOf(owner)
  if isOver(owner) then return end
  local text = call('GETRANGE', P .. 'g:' .. owner, '48', '63')
  if #text == 16 then return unpack('<dd', text) end
end

-- The gate at work counts by other numbers from its cycle on. True if they differ.
local function follow(most, length)
  if threshold == most and within == length then return false end
  if within ~= length and total > 0 then
    local ring, parts = call('GETRANGE', key, '64', '-1'), {}
    local function at(c)
      if c <= cycle - within then return base end
      local from = (c % within) * 8 + 1
      if #ring < from + 7 then return 0 end
      return (unpack('<d', ring, from))
    end
    for c = cycle - length, cycle - 1 do parts[c % length + 1] = pack('<d', at(c)) end
    base = at(cycle - length)
    call('SET', key, string.rep('\0', BYTES) .. table.concat(parts))
  end
  threshold, within, isUnscheduled = most, length, true
  return true
end

local function make(name, most, length)
  gate, key, isUnscheduled = name, P .. 'g:' .. name, false
  cycle, total, base, limiting, held, late, threshold, within = today, 0, 0, 0, today, 0, most, length
end
`;
