import { inflateSync } from 'node:zlib'
import { ReadError } from '../limits.js'
import { findRecord, type PptRecord, readRecord, readRecords } from './ppt-records.js'

/** Records of embedded objects (MS-PPT 2.10): their list, an object, the location of its bytes, and the bytes. */
const LIST = 0x0409
const EMBEDDED = 0x0fcc
const OBJECT_ATOM = 0x0fc3
const STORAGE = 0x1011
/** In the client data of a shape: the number of the displayed object. */
const CLIENT_DATA = 0xf011
const REFERENCE = 0x0bc1
const COMPRESSED = 1
const MAX_OBJECTS = 10_000

/** An embedded object of a presentation. */
export interface PptObject {
  /** Number that shapes use for it. */
  id: number
  /** @throws ReadError that concerns only this object */
  bytes(): Buffer
}

/**
 * Lists the embedded objects of a presentation.
 *
 * @param partAt returns the offset of a part in the stream
 * @param maxBytes maximal size of one object after unpacking
 */
export function listPptObjects(
  document: PptRecord,
  stream: Buffer,
  partAt: (part: number) => number,
  maxBytes: number,
): PptObject[] {
  const list = findRecord(document.body, LIST)
  const objects: PptObject[] = []
  for (const { type, body } of list === undefined ? [] : readRecords(list.body)) {
    const atom = type === EMBEDDED ? findRecord(body, OBJECT_ATOM) : undefined
    if (atom === undefined || atom.body.length < 20 || objects.length >= MAX_OBJECTS) continue
    const id = atom.body.readUInt32LE(8)
    const part = atom.body.readUInt32LE(16)
    objects.push({ id, bytes: () => readStoredBytes(readRecord(stream, partAt(part)), maxBytes) })
  }
  return objects
}

/** Number of the object that a shape displays, if any. */
export function findShapeObject(shape: PptRecord): number | undefined {
  const data = findRecord(shape.body, CLIENT_DATA)
  const reference = data === undefined ? undefined : findRecord(data.body, REFERENCE)
  return reference === undefined || reference.body.length < 4 ? undefined : reference.body.readUInt32LE(0)
}

function readStoredBytes(record: PptRecord | undefined, maxBytes: number): Buffer {
  if (record?.type !== STORAGE) throw new ReadError('malformed', 'its bytes are missing')
  if (record.instance !== COMPRESSED) return record.body
  try {
    return inflateSync(record.body.subarray(4), { maxOutputLength: maxBytes })
  } catch (error) {
    throw new ReadError('malformed', 'its bytes cannot be unpacked', { cause: error })
  }
}
