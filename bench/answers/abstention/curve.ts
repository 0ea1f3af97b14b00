/** Scores of two kinds of questions. */
export interface Scores {
  own: readonly number[]
  foreign: readonly number[]
}

/** Computes how often an own question scores above a foreign one; a tie counts as half. */
export function computeAreaUnderCurve({ own, foreign }: Scores): number {
  const sorted = [...foreign].sort((a, b) => a - b)
  /** how many of the sorted values come before the first that is at its end */
  const countUntil = (isEnd: (value: number) => boolean): number => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isEnd(sorted[middle]!)) high = middle
      else low = middle + 1
    }
    return low
  }
  const wins = own.reduce(
    (sum, score) => sum + (countUntil((value) => value >= score) + countUntil((value) => value > score)) / 2,
    0,
  )
  return wins / Math.max(1, own.length * foreign.length)
}

/** Computes the mean of the fractions of both kinds that are on their side of a threshold. */
export function computeBalancedAccuracy({ own, foreign }: Scores, threshold: number): number {
  const computeFractionAbove = (all: readonly number[]): number =>
    all.filter((score) => score >= threshold).length / Math.max(1, all.length)
  return (computeFractionAbove(own) + 1 - computeFractionAbove(foreign)) / 2
}
