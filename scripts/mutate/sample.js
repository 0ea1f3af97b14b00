/** Numbers that look random and are the same for the same seed (mulberry32). @param {number} seed */
export function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * @template T
 * @param {readonly T[]} all
 * @param {number} most
 * @param {number} seed
 * @returns {T[]} so many of them, drawn without preference, in the order in which they stand in `all`
 */
export function sample(all, most, seed) {
  const random = randomFrom(seed)
  const places = all.map((_, place) => place)
  for (let n = places.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1))
    const place = places[n]
    places[n] = places[other]
    places[other] = place
  }
  return places
    .slice(0, most)
    .sort((a, b) => a - b)
    .map((place) => all[place])
}
