/**
 * Finds the candidate that a mistyped word most likely means; undefined if none is close. At most a third of the word's
 * letters may differ, rounded up, or the word is a prefix of the candidate.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase()
  const most = Math.ceil(wanted.length / 3)
  let best: string | undefined
  let bestDistance = most + 1
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase()
    const begins = wanted.length >= 2 && lower.startsWith(wanted)
    const distance = begins ? 1 : editDistance(wanted, lower)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Optimal string alignment distance: insertions, deletions, changes and swaps of neighbours cost one each. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1)
      current.push(cost)
    }
    before = previous
    previous = current
  }
  return previous[b.length] ?? 0
}

/** Sorts items by the edit distance of their name to a word, nearest first. */
export function nearestFirst<T>(word: string, things: readonly T[], nameOf: (thing: T) => string): T[] {
  const wanted = word.toLowerCase().slice(0, COMPARED_CHARS)
  const distances = things.map((thing): [T, number] => {
    const name = nameOf(thing).toLowerCase().slice(0, COMPARED_CHARS)
    return [thing, editDistance(wanted, name)]
  })
  return distances.sort((a, b) => a[1] - b[1]).map(([thing]) => thing)
}

/** Characters of a name that are compared: the work grows with the product of both lengths. */
const COMPARED_CHARS = 60
