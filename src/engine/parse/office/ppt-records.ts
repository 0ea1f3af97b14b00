/** A record of an old presentation (MS-PPT 2.3.1) or of a drawing in it (MS-ODRAW 2.2.1). */
export interface PptRecord {
  type: number
  instance: number
  /** Whether it contains records. */
  container: boolean
  body: Buffer
}

const HEADER = 8

/** The record at an offset, cut at the end of its stream; undefined when no header fits. */
export function recordAt(bytes: Buffer, at: number): PptRecord | undefined {
  if (at < 0 || at + HEADER > bytes.length) return undefined
  const head = bytes.readUInt16LE(at)
  const size = bytes.readUInt32LE(at + 4)
  return {
    type: bytes.readUInt16LE(at + 2),
    instance: head >> 4,
    container: (head & 0xf) === 0xf,
    body: bytes.subarray(at + HEADER, Math.min(bytes.length, at + HEADER + size)),
  }
}

/** The consecutive records of a container. */
export function* recordsIn(bytes: Buffer): Generator<PptRecord> {
  let at = 0
  for (;;) {
    const record = recordAt(bytes, at)
    if (record === undefined) return
    yield record
    at += HEADER + record.body.length
  }
}

/** The first record of a type in a container. */
export function firstOf(bytes: Buffer, type: number): PptRecord | undefined {
  for (const record of recordsIn(bytes)) if (record.type === type) return record
  return undefined
}
