/** Caps both sides hold to: the daemon refuses early, the index process refuses again. */

/** Candidates a leg can be asked for. */
export const MAX_K = 1_000
/** Documents a filter can name; more are no longer a filter, and the term set would outgrow the query. */
export const MAX_FILTER_DOCS = 50_000
/** Longest vector; the largest embedding models give 4,096 numbers. */
export const MAX_DIMENSION = 8_192
/** Nodes of one staged slice: the native library is called at most this often before others get a turn. */
export const SLICE_NODES = 100
/** Characters of one slice's texts: analysing them takes some 4 ms, and with FTS5 searches of all spaces wait for it. */
export const SLICE_CHARACTERS = 64 * 1024
/** Vectors of one slice, in bytes. */
export const SLICE_VECTOR_BYTES = 512 * 1024
