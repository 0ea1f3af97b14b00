/** Reasons of degraded searches. This one: the text index has not reached the end of the log yet. */
export const CATCHING_UP = 'the text index is catching up'
/** The text index has reached the end of the log; its passages are counted before vectors are loaded. */
export const COUNTING = 'the text index is being counted'
export const LOADING = 'vectors are being loaded'
export const describeMissingVectorSpace = (vectorSpace: string): string =>
  `vectors of ${vectorSpace} are not in the index`
export const describeDimensionMismatch = (queryDimension: number, indexDimension: number): string =>
  `the query vector has ${queryDimension} dimensions, the index ${indexDimension}`
