/**
 * Finds the holder that loses one slot when all are taken and `requester` needs one: the holder with the most slots, if
 * it has more than `requester` would then have.
 *
 * @param slotsByHolder slots of each holder
 * @returns the holder and its slots; undefined if no holder has more than its share
 */
export function largestShare<T>(
  held: ReadonlyMap<string, readonly T[]>,
  asking: string,
): readonly [string, readonly T[]] | undefined {
  const own = held.get(asking)?.length ?? 0
  let largest: readonly [string, readonly T[]] = ['', []]
  for (const entry of held) if (entry[1].length > largest[1].length) largest = entry
  return largest[1].length > own + 1 ? largest : undefined
}
