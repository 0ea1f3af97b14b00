/** What searches say of a text index that has not come to the end of the log yet. */
export const CATCHING_UP = 'the text index is catching up'
/** … of one that stands there, and whose passages are counted to be sure; that waits for the vectors before it */
export const COUNTING = 'the text index is being counted'
/** … and of vectors that are still coming. */
export const LOADING = 'vectors are being loaded'
/** … of a question whose vector is of a vector space that the index does not have */
export const notHere = (vectorSpace: string): string => `vectors of ${vectorSpace} are not here`
/** … or of another length than those of the index. */
export const otherLength = (asked: number, here: number): string =>
  `the query vector has ${asked} dimensions, the index ${here}`
