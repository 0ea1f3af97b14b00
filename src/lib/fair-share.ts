/**
 * Finds the holder that loses one slot when all are taken and `requester` needs one: the holder with the most slots, if
 * it has more than `requester` would then have.
 *
 * @param slotsByHolder slots of each holder
 * @returns the holder and its slots; undefined if no holder has more than its share
 */
export function findLargestHolder<T>(
  slotsByHolder: ReadonlyMap<string, readonly T[]>,
  requester: string,
): readonly [string, readonly T[]] | undefined {
  const ownCount = slotsByHolder.get(requester)?.length ?? 0
  let largest: readonly [string, readonly T[]] = ['', []]
  for (const entry of slotsByHolder) if (entry[1].length > largest[1].length) largest = entry
  return largest[1].length > ownCount + 1 ? largest : undefined
}
