const MIB = 1024 * 1024

/** What a bundle may be. A stranger may have written it, so each of these is asked before anything is made of it. */
export const BUNDLE_LIMITS = {
  /** one line of a table: a picture of a document, as base64 */
  lineBytes: 64 * MIB,
  /** one file of lines: a line may begin where the file has nearly its usual size */
  rowsBytes: 66 * MIB,
  /** one object, as an upload may be */
  manifestBytes: MIB,
  /** documents of a page, whose objects are received before any of them is named */
  pageDocuments: 32,
  pageBytes: 64 * MIB,
  /** of the JSON of a column; packed parts have limits of their own, see `STORED_LIMITS` */
  depth: 64,
  /** members of the JSON of a column, a line or the manifest: parsed, each takes many times its text */
  values: 200_000,
  text: 16 * MIB,
  dimension: 8192,
  modelBytes: 512 * MIB,
  sources: 10_000,
} as const

/** Bytes after which the rows of a table go on in the next file. */
export const ROWS_BYTES = MIB
