/**
 * Finds runs that replace each other in two token lists, by their longest common subsequence: `tin` and `lead` of `the
 * melting point of tin is #` and `the melting point of lead is #`.
 *
 * @returns pairs of runs of indexes, both nonempty
 */
export function findReplacedRuns(one: readonly string[], two: readonly string[]): [number[], number[]][] {
  const width = two.length + 1
  const lengths = new Uint16Array((one.length + 1) * width)
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = two.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        one[i] === two[j] ? 1 + lengthAt(i + 1, j + 1) : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
  const pairs: [number[], number[]][] = []
  let [left, right]: [number[], number[]] = [[], []]
  const close = (): void => {
    if (left.length > 0 && right.length > 0) pairs.push([left, right])
    left = []
    right = []
  }
  for (let [i, j] = [0, 0]; i < one.length || j < two.length; ) {
    if (i < one.length && j < two.length && one[i] === two[j]) {
      close()
      i++
      j++
    } else if (j >= two.length || (i < one.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) left.push(i++)
    else right.push(j++)
  }
  close()
  return pairs
}
