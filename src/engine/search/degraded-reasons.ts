/** Reasons of degraded searches: the text index has not reached the end of the log yet, */
export const CATCHING_UP = 'the text index is catching up'
/** it has, but its passages are still counted to be sure, before vectors are loaded, */
export const COUNTING = 'the text index is being counted'
/** vectors are still loading, */
export const LOADING = 'vectors are being loaded'
/** the index has no vectors of the query's vector space, */
export const missingVectorSpace = (vectorSpace: string): string => `vectors of ${vectorSpace} are not in the index`
/** or the query vector and the vectors of the index differ in dimension. */
export const differentDimension = (queryDimension: number, indexDimension: number): string =>
  `the query vector has ${queryDimension} dimensions, the index ${indexDimension}`
