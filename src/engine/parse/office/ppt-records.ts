/** A record of an old presentation (MS-PPT 2.3.1) or of a drawing in it (MS-ODRAW 2.2.1). */
export interface PptRecord {
  type: number
  instance: number
  /** whether it holds records */
  container: boolean
  body: Buffer
}

const HEADER = 8

/** The record at a place, cut where its stream ends; nothing where there is no room for one. */
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

/** The records in a container, one after the other. */
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
