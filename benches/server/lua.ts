// GCRA as people write it for Redis: one float, one key, the server's clock.

export const GCRA = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local period, burst, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local spacing = period / burst
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = tat + spacing * count
if after - now > period then
  return {1, burst, math.floor((period - (tat - now)) / spacing), math.ceil(after - period - now), math.ceil(tat - now)}
end
redis.call('SET', KEYS[1], string.format('%.6f', after), 'PX', math.ceil(after - now))
return {0, burst, math.floor((period - (after - now)) / spacing), -1, math.ceil(after - now)}`;
