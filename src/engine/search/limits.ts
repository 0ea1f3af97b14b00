/** Limits that both sides enforce: the daemon rejects early, the index process rejects again. */

/** Maximal number of candidates per search leg. */
export const MAX_K = 1_000
/** Maximal number of documents in a filter; more hardly filter, and the term set would outgrow the query. */
export const MAX_FILTER_DOCS = 50_000
/** Maximal vector length; the largest embedding models return 4,096 numbers. */
export const MAX_DIMENSION = 8_192
/** Maximal number of nodes of a staged slice: calls of the native library before other requests get a turn. */
export const MAX_SLICE_NODES = 100
/**
 * Maximal characters of a slice's texts: analysing them takes about 4 ms, and with FTS5 searches of all spaces wait for
 * it.
 */
export const MAX_SLICE_CHARACTERS = 64 * 1024
/** Maximal bytes of a slice's vectors. */
export const MAX_SLICE_VECTOR_BYTES = 512 * 1024
