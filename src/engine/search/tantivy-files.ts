import { type FileHandle, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { isRecord } from '../../lib/json/values.js'
import { DamagedIndexError } from './text-index.js'

/**
 * Checks an index directory before the native library maps it: the library checks no content, and a damaged file can
 * crash the process. Every segment file ends with a footer: JSON with a CRC-32 of everything before it, the length of
 * that JSON and a magic number, both 32 bits little-endian (Tantivy 0.25, `directory/footer.rs`).
 */

const FOOTER_MAGIC = 1337
const FOOTER_TAIL_BYTES = 8
/** A footer has about 90 bytes; a longer one means a damaged length. */
const MAX_FOOTER_JSON_BYTES = 4_096
/**
 * The version that our binding writes into every footer. No checksum covers it, and it decides how the rest is read.
 * Another version means that the index is rebuilt.
 */
const FOOTER_VERSION = JSON.stringify({ major: 0, minor: 25, patch: 0, index_format_version: 7 })
const CHUNK_BYTES = 1 << 20
/** Files that each segment must have; one with deletions has an additional `.del` file. */
const SEGMENT_FILE_EXTENSIONS = ['fast', 'fieldnorm', 'idx', 'pos', 'store', 'term']

interface TantivySegment {
  segment_id: string
  max_doc: number
  deletes: { num_deleted_docs: number; opstamp: number } | null
}

/**
 * Checks everything that the index's `meta.json` names.
 *
 * @param schema the schema that this program writes, as the library prints it
 * @returns whether there is an index; an empty directory has none
 * @throws DamagedIndexError that names the first defect
 */
export async function checkTantivyFiles(dir: string, schema: unknown): Promise<boolean> {
  const names = new Set(await readdir(dir).catch(() => []))
  if (!names.has('meta.json')) {
    if ([...names].some((name) => name.endsWith('.term'))) throw new DamagedIndexError(`${dir} lacks its meta.json`)
    return false
  }
  const meta = await readJson(join(dir, 'meta.json'))
  if (names.has('.managed.json')) checkManagedList(await readJson(join(dir, '.managed.json')), dir)
  for (const segment of readSegments(meta, schema, dir)) {
    for (const name of segmentFiles(segment)) {
      if (!names.has(name)) throw new DamagedIndexError(`${dir} lacks ${name}`)
      await checkFooter(join(dir, name))
    }
  }
  return true
}

async function readJson(path: string): Promise<unknown> {
  try {
    const parsed: unknown = JSON.parse(await readFile(path, 'utf8'))
    return parsed
  } catch (error) {
    throw new DamagedIndexError(`${path} is not JSON`, { cause: error })
  }
}

function checkManagedList(managed: unknown, dir: string): void {
  if (!Array.isArray(managed) || managed.some((name) => typeof name !== 'string' || name.includes('/'))) {
    throw new DamagedIndexError(`${dir} has a damaged list of files`)
  }
}

function readSegments(meta: unknown, schema: unknown, dir: string): TantivySegment[] {
  const createError = (problem: string) => new DamagedIndexError(`${dir}/meta.json: ${problem}`)
  if (!isRecord(meta) || !Array.isArray(meta.segments)) throw createError('no list of segments')
  if (JSON.stringify(meta.schema) !== JSON.stringify(schema)) throw createError('unknown fields')
  if (!isCount(meta.opstamp)) throw createError('the operation stamp is not a number')
  return meta.segments.map((segment: unknown) => {
    if (!isSegment(segment)) throw createError('invalid description of a segment')
    return segment
  })
}

function isSegment(value: unknown): value is TantivySegment {
  if (!isRecord(value) || typeof value.segment_id !== 'string' || !isCount(value.max_doc)) return false
  if (!/^[0-9a-f-]{36}$/.test(value.segment_id) || value.max_doc >= 2 ** 31) return false
  const { deletes } = value
  if (deletes === null || deletes === undefined) return true
  if (!isRecord(deletes) || !isCount(deletes.opstamp) || !isCount(deletes.num_deleted_docs)) return false
  return deletes.num_deleted_docs <= value.max_doc
}

function segmentFiles(segment: TantivySegment): string[] {
  const id = segment.segment_id.replaceAll('-', '')
  const files = SEGMENT_FILE_EXTENSIONS.map((part) => `${id}.${part}`)
  if (segment.deletes) files.push(`${id}.${segment.deletes.opstamp}.del`)
  return files
}

async function checkFooter(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const footer = await readFooter(handle, size, path)
    if ((await computeChecksum(handle, footer.contentBytes)) !== footer.crc) {
      throw new DamagedIndexError(`${path} does not match its checksum`)
    }
  } finally {
    await handle.close()
  }
}

async function readFooter(
  handle: FileHandle,
  size: number,
  path: string,
): Promise<{ contentBytes: number; crc: number }> {
  const tail = await readAt(handle, Math.max(0, size - FOOTER_TAIL_BYTES), FOOTER_TAIL_BYTES)
  const length = tail.length < FOOTER_TAIL_BYTES ? 0 : tail.readUInt32LE(0)
  const contentBytes = size - FOOTER_TAIL_BYTES - length
  if (length === 0 || length > MAX_FOOTER_JSON_BYTES || tail.readUInt32LE(4) !== FOOTER_MAGIC || contentBytes < 0) {
    throw new DamagedIndexError(`${path} has no footer: it is truncated or damaged`)
  }
  try {
    const footer: { crc?: unknown; version?: unknown } = JSON.parse(
      (await readAt(handle, contentBytes, length)).toString('utf8'),
    )
    if (isCount(footer.crc) && JSON.stringify(footer.version) === FOOTER_VERSION)
      return { contentBytes, crc: footer.crc }
  } catch {
    // reported below, like any other unreadable footer
  }
  throw new DamagedIndexError(`${path} has an unreadable footer`)
}

async function computeChecksum(handle: FileHandle, bytes: number): Promise<number> {
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, bytes))
  let crc = 0
  for (let offset = 0; offset < bytes; ) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, bytes - offset), offset)
    if (bytesRead === 0) break
    crc = crc32(chunk.subarray(0, bytesRead), crc)
    offset += bytesRead
  }
  return crc
}

async function readAt(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await handle.read(buffer, 0, length, offset)
  return buffer.subarray(0, bytesRead)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
