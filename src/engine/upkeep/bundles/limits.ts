const MIB = 1024 * 1024

/** Limits of a bundle. It may come from an untrusted author, so each is checked before anything is processed. */
export const BUNDLE_LIMITS = {
  /** one line of a table: a picture of a document, as base64 */
  lineBytes: 64 * MIB,
  /** one file of lines: a line may start where the file has nearly its usual size */
  rowsBytes: 66 * MIB,
  /** manifest or end */
  manifestBytes: MIB,
  /** documents of a page, whose objects are received before their rows */
  pageDocuments: 32,
  pageBytes: 64 * MIB,
  /** of the JSON of a column; packed parts have separate limits, see `STORED_LIMITS` */
  depth: 64,
  /** members of the JSON of a column, a line or the manifest: parsed, each takes many times the size of its text */
  values: 200_000,
  text: 16 * MIB,
  dimension: 8192,
  modelBytes: 512 * MIB,
  sources: 10_000,
} as const

/** Size at which the rows of a table continue in the next file. */
export const ROWS_FILE_BYTES = MIB
