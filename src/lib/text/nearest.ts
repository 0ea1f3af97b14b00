/**
 * Finds the candidate that a mistyped word most likely means; undefined if none is close. At most a third of the word's
 * letters may differ, rounded up, or the word is a prefix of the candidate.
 */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const lowerWord = word.toLowerCase()
  const maxDistance = Math.ceil(lowerWord.length / 3)
  let best: string | undefined
  let bestDistance = maxDistance + 1
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase()
    const isPrefix = lowerWord.length >= 2 && lower.startsWith(lowerWord)
    const distance = isPrefix ? 1 : computeEditDistance(lowerWord, lower)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Optimal string alignment distance: insertions, deletions, changes and swaps of neighbours cost one each. */
export function computeEditDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (isSwapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1)
      current.push(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? 0
}

/** Sorts items by the edit distance of their name to a word, nearest first. */
export function sortByNearest<T>(word: string, items: readonly T[], getName: (item: T) => string): T[] {
  const lowerWord = word.toLowerCase().slice(0, COMPARED_CHARS)
  const distances = items.map((item): [T, number] => {
    const name = getName(item).toLowerCase().slice(0, COMPARED_CHARS)
    return [item, computeEditDistance(lowerWord, name)]
  })
  return distances.sort((a, b) => a[1] - b[1]).map(([item]) => item)
}

/** Characters of a name that are compared: the work grows with the product of both lengths. */
const COMPARED_CHARS = 60
