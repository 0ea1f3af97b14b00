/** A record of an old presentation (MS-PPT 2.3.1) or of a drawing in it (MS-ODRAW 2.2.1). */
export interface PptRecord {
  type: number
  instance: number
  isContainer: boolean
  /** The bytes after its header; those of a container are records. */
  body: Buffer
}

const HEADER_BYTES = 8

/** The record at an offset, cut at the end of its stream; undefined when no header fits. */
export function readRecord(bytes: Buffer, offset: number): PptRecord | undefined {
  if (offset < 0 || offset + HEADER_BYTES > bytes.length) return undefined
  const header = bytes.readUInt16LE(offset)
  const size = bytes.readUInt32LE(offset + 4)
  return {
    type: bytes.readUInt16LE(offset + 2),
    instance: header >> 4,
    isContainer: (header & 0xf) === 0xf,
    body: bytes.subarray(offset + HEADER_BYTES, Math.min(bytes.length, offset + HEADER_BYTES + size)),
  }
}

/** The consecutive records of a container. */
export function* readRecords(bytes: Buffer): Generator<PptRecord> {
  let offset = 0
  for (;;) {
    const record = readRecord(bytes, offset)
    if (record === undefined) return
    yield record
    offset += HEADER_BYTES + record.body.length
  }
}

/** The first record of a type in a container. */
export function findRecord(bytes: Buffer, type: number): PptRecord | undefined {
  for (const record of readRecords(bytes)) if (record.type === type) return record
  return undefined
}
