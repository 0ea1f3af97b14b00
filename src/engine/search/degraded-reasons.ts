/** Reasons of degraded searches. This one: the text index has not reached the end of the log yet. */
export const CATCHING_UP = 'the text index is catching up'
/** The text index has reached the end of the log; its passages are counted before vectors are loaded. */
export const COUNTING = 'the text index is being counted'
export const LOADING = 'vectors are being loaded'

/**
 * Reasons why an index lacks entries, for the state of a space. Reading a complete index after a start is none: searches
 * wait for it, and report it themselves if that takes too long.
 */
export function withoutLoading(reasons: readonly string[]): string[] {
  return reasons.filter((reason) => reason !== COUNTING && reason !== LOADING)
}

export const describeMissingVectorSpace = (vectorSpace: string): string =>
  `vectors of ${vectorSpace} are not in the index`
export const describeDimensionMismatch = (queryDimension: number, indexDimension: number): string =>
  `the query vector has ${queryDimension} dimensions, the index ${indexDimension}`
