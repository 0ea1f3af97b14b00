/** A token of a clause as clauses are laid beside each other: numbers and dates count as one and the same. */
export interface LineToken {
  key: string
  /** its place among the clause's tokens */
  place: number
}

export type Line = readonly LineToken[]

/**
 * Stretches that stand in each other's place in two clauses of the same build: `tin` and `lead` of `the melting point of
 * tin is 232 °C` and `the melting point of lead is 327 °C`. By a longest common subsequence of their tokens.
 *
 * @returns pairs of runs of places
 */
export function exchanged(one: Line, two: Line): [number[], number[]][] {
  const lengths = commonLengths(one, two)
  const width = two.length + 1
  const pairs: [number[], number[]][] = []
  let [left, right]: [number[], number[]] = [[], []]
  let [i, j] = [0, 0]
  let hasAnchor = false
  const close = (isEnd: boolean): void => {
    if (left.length > 0 && right.length > 0 && (hasAnchor || !isEnd)) pairs.push([left, right])
    left = []
    right = []
    hasAnchor = !isEnd
  }
  while (i < one.length || j < two.length) {
    const [a, b] = [one[i], two[j]]
    if (a !== undefined && b !== undefined && a.key === b.key) {
      close(false)
      i++
      j++
    } else if (
      b === undefined ||
      (a !== undefined && at(lengths, (i + 1) * width + j) >= at(lengths, i * width + j + 1))
    ) {
      if (a !== undefined) left.push(a.place)
      i++
    } else {
      right.push(b.place)
      j++
    }
  }
  close(true)
  return pairs
}

/** Length of the longest common subsequence of the rests from each pair of places on. */
function commonLengths(one: Line, two: Line): Uint16Array {
  const width = two.length + 1
  const lengths = new Uint16Array((one.length + 1) * width)
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = two.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        one[i]?.key === two[j]?.key
          ? 1 + at(lengths, (i + 1) * width + j + 1)
          : Math.max(at(lengths, (i + 1) * width + j), at(lengths, i * width + j + 1))
  return lengths
}

function at(lengths: Uint16Array, place: number): number {
  return lengths[place] ?? 0
}
