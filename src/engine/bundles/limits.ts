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
  /** of what a column holds of JSON, and of what is packed */
  depth: 64,
  packedDepth: 128,
  /** of an artifact, an outline or a list of items once unpacked: bytes, and what JSON has of values */
  unpackedBytes: 1024 * MIB,
  unpackedValues: 10_000_000,
  /** bytes up to which it is also read, and compared with its hash */
  readBytes: 8 * MIB,
  text: 16 * MIB,
  dimension: 8192,
  modelBytes: 512 * MIB,
  sources: 10_000,
} as const

/** Bytes after which the rows of a table go on in the next file. */
export const ROWS_BYTES = MIB
