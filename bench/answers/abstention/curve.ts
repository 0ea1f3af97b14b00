/** What scores tell of two kinds of question. */
export interface Scores {
  own: readonly number[]
  foreign: readonly number[]
}

/** How often an own question scores above a foreign one, a tie counting half. */
export function areaUnder({ own, foreign }: Scores): number {
  const sorted = [...foreign].sort((a, b) => a - b)
  const below = (score: number, orEqual: boolean): number => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const value = sorted[middle]!
      if (value < score || (orEqual && value === score)) low = middle + 1
      else high = middle
    }
    return low
  }
  const wins = own.reduce((sum, score) => sum + (below(score, false) + below(score, true)) / 2, 0)
  return wins / Math.max(1, own.length * foreign.length)
}

/** Mean of the shares of both kinds on their side of a threshold. */
export function balancedAccuracy({ own, foreign }: Scores, from: number): number {
  const above = (all: readonly number[]): number =>
    all.filter((score) => score >= from).length / Math.max(1, all.length)
  return (above(own) + 1 - above(foreign)) / 2
}
