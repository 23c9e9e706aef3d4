/** Numbers in `[0, 1)` that are the same for the same seed: a small 32-bit mixer, for shapes and not for secrets. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** One request every `1 / perSecond`, evenly, in `[from, to)`. */
export function steady(from: number, to: number, perSecond: number): number[] {
  const count = Math.ceil(((to - from) * perSecond) / 1000);
  return Array.from({ length: count }, (_, index) => from + Math.floor((index * 1000) / perSecond));
}

/** Requests that know nothing of each other, `perSecond` on average, in `[from, to)`. */
export function poisson(from: number, to: number, perSecond: number, seed: number): number[] {
  const next = random(seed);
  const times: number[] = [];
  for (let at = from; ; ) {
    at += (-Math.log(1 - next()) * 1000) / perSecond;
    if (at >= to) return times;
    times.push(Math.floor(at));
  }
}

/** `count` requests, busier by day than by night, in `[from, to)`: exactly as many as asked. */
export function daily(from: number, to: number, count: number, seed: number): Float64Array {
  const next = random(seed);
  const times = new Float64Array(count);
  for (let index = 0; index < count; ) {
    const at = from + Math.floor(next() * (to - from));
    const hour = (at % 86_400_000) / 3_600_000;
    // Three times as busy at 14:00 as at 02:00.
    if (next() < 0.667 + 0.333 * Math.cos(((hour - 14) / 12) * Math.PI)) times[index++] = at;
  }
  return times.sort();
}
