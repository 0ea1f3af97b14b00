import type { CompileFailure } from '../store/compiled.js'

const MIB = 1024 * 1024

/** Limits for reading one document. A document that exceeds one fails alone; the error names the limit. */
export interface ReadLimits {
  /** processor time for one file, all threads of the reading process together */
  processorMs: number
  /**
   * wall time for one file, for one that sleeps or waits for a disk; time in which the machine sleeps does not count
   */
  wallMs: number
  /** resident memory of the reading process */
  memoryBytes: number
  /** pages of a paged document */
  maxPages: number
  /** filled cells of a workbook, all sheets together */
  maxCells: number
  /** inflated bytes of an archive, all entries together */
  inflatedBytes: number
  /** inflated size divided by packed size; checked only above `ratioFloorBytes` of inflated size */
  inflateRatio: number
  ratioFloorBytes: number
  /** entries of one archive of an office format */
  archiveEntries: number
  /** files extracted from one file, including the files contained in those */
  containedFiles: number
  /** bytes of one contained file */
  containedBytes: number
  /** containers around a file: a document in an archive in a mail in an archive has three */
  containedDepth: number
}

export const DEFAULT_LIMITS: ReadLimits = {
  processorMs: 120_000,
  wallMs: 30 * 60_000,
  memoryBytes: 768 * MIB,
  maxPages: 5000,
  maxCells: 1_000_000,
  inflatedBytes: 1024 * MIB,
  inflateRatio: 200,
  ratioFloorBytes: 10 * MIB,
  archiveEntries: 10_000,
  containedFiles: 20_000,
  containedBytes: 256 * MIB,
  containedDepth: 5,
}

/** Total bytes of the embedded pictures kept from one document: the bound of a readable multimodal asset. */
export const MAX_PICTURE_BYTES = 32 * MIB

/** Thrown by parsers; becomes the failure of that one document. */
export class ReadError extends Error {
  readonly code: CompileFailure['code']
  /** detected type of an unsupported file */
  readonly mediaType: string | undefined

  constructor(code: CompileFailure['code'], message: string, options: ErrorOptions & { mediaType?: string } = {}) {
    super(message, options)
    this.mediaType = options.mediaType
    this.name = 'ReadError'
    this.code = code
  }
}

/** Formats a byte count for a sentence: `768 MiB`, `12 KiB`, `900 bytes`. */
export function formatByteCount(bytes: number): string {
  if (bytes >= MIB) return `${Math.round(bytes / MIB).toLocaleString('en-US')} MiB`
  if (bytes >= 1024) return `${Math.round(bytes / 1024)} KiB`
  return `${bytes} bytes`
}
