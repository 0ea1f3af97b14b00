import { isAscii, isUtf8 } from 'node:buffer'
import { crc32, inflateRawSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { formatByteCount, ReadError, type ReadLimits } from '../limits.js'

// Record signatures and sizes of APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3.
const LOCAL_SIGNATURE = 0x04034b50
const CENTRAL_SIGNATURE = 0x02014b50
const END_SIGNATURE = 0x06054b50
const END_SIZE = 22
const CENTRAL_SIZE = 46
const LOCAL_SIZE = 30
const MAX_COMMENT = 0xffff
const ENCRYPTED_FLAG = 1
const UTF8_FLAG = 0x800
/** bits of the file type in the Unix mode of an entry, and their value for a symbolic link */
const TYPE_BITS = 0xf000
const SYMBOLIC_LINK = 0xa000
const STORED = 0
const DEFLATED = 8
/**
 * A size or an offset with all bits set refers to the zip64 record, which some programs write into small archives too.
 */
const ZIP64 = 0xffffffff
const ZIP64_END = 0x06064b50
const ZIP64_END_SIZE = 56
const ZIP64_LOCATOR = 0x07064b50
const ZIP64_LOCATOR_SIZE = 20
const ZIP64_EXTRA = 1

export interface ZipEntry {
  name: string
  method: number
  encrypted: boolean
  /** a symbolic link: its content is the name of another file */
  isLink: boolean
  packedSize: number
  /** as the archive claims; `ZipArchive.read` relies only on what is inflated */
  size: number
  offset: number
  checksum: number
}

/** An archive in memory. Its entries are inflated one at a time within one shared budget. */
export interface ZipArchive {
  /** by name; the first of entries with the same name */
  readonly entries: ReadonlyMap<string, ZipEntry>
  /** all entries, also those with the same name */
  readonly list: readonly ZipEntry[]
  /** The content of an entry, which is not cached. @throws ReadError as `read` */
  unpack(entry: ZipEntry): Buffer
  /** @throws ReadError `limit-exceeded`, `encrypted`, `malformed` */
  read(name: string): Buffer
}

/** The archive of bytes that are opened again, so that no part is inflated twice. */
const opened = new WeakMap<Buffer, { archive: ZipArchive; filename: string; limits: ReadLimits }>()

/**
 * Opens a zip archive by its central directory and checks its claims: number of entries, inflated size, ratio.
 *
 * @param filename for its error messages
 * @throws ReadError `malformed` without a directory, `limit-exceeded` above a limit
 */
export function openZip(bytes: Buffer, filename: string, limits: ReadLimits): ZipArchive {
  const known = opened.get(bytes)
  if (known?.filename === filename && known.limits === limits) return known.archive
  const archive = openArchive(bytes, filename, limits)
  opened.set(bytes, { archive, filename, limits })
  return archive
}

function openArchive(bytes: Buffer, filename: string, limits: ReadLimits): ZipArchive {
  const list = readDirectory(bytes, filename, limits)
  const entries = new Map<string, ZipEntry>()
  let claimed = 0
  for (const entry of list) {
    claimed += entry.size
    if (!entries.has(entry.name)) entries.set(entry.name, entry)
  }
  checkInflated(claimed, bytes.length, filename, limits)
  let inflated = 0
  const cache = new Map<string, Buffer>()
  const unpack = (entry: ZipEntry): Buffer => {
    const content = inflate({ bytes, filename, limits }, entry, inflated)
    inflated += content.length
    checkInflated(inflated, bytes.length, filename, limits)
    if (crc32(content) !== entry.checksum) {
      throw new ReadError('malformed', `${filename} is damaged: ${entry.name} does not match its checksum`)
    }
    return content
  }
  return {
    entries,
    list,
    unpack,
    read(name) {
      const cached = cache.get(name)
      if (cached !== undefined) return cached
      const entry = entries.get(name)
      if (entry === undefined) throw new ReadError('malformed', `${filename} has no part ${name}`)
      const content = unpack(entry)
      cache.set(name, content)
      return content
    },
  }
}

/**
 * Names of the entries of an archive from its directory, at most `maxCount`; none without a directory. Inflates
 * nothing, so it is cheap for any file.
 */
export function listEntryNames(bytes: Buffer, maxCount: number): Set<string> {
  const names = new Set<string>()
  const end = bytes.length < END_SIZE ? -1 : findEndRecord(bytes)
  if (end === -1) return names
  let offset = findDirectoryStart(bytes, end)
  while (
    names.size < maxCount &&
    offset + CENTRAL_SIZE <= bytes.length &&
    bytes.readUInt32LE(offset) === CENTRAL_SIGNATURE
  ) {
    const { name, next } = readEntryName(bytes, offset)
    names.add(name)
    offset = next
  }
  return names
}

function readEntryName(bytes: Buffer, offset: number): { name: string; next: number } {
  const end = offset + CENTRAL_SIZE + bytes.readUInt16LE(offset + 28)
  const raw = bytes.subarray(offset + CENTRAL_SIZE, end)
  // Many programs write UTF-8 without the flag; what is not valid UTF-8 is in the code page of the first PCs.
  const hasUtf8Flag = (bytes.readUInt16LE(offset + 8) & UTF8_FLAG) !== 0
  const text = hasUtf8Flag || isAscii(raw) || isUtf8(raw) ? raw.toString('utf8') : iconv.decode(raw, 'cp437')
  const name = text.replaceAll('\\', '/')
  return { name, next: end + bytes.readUInt16LE(offset + 30) + bytes.readUInt16LE(offset + 32) }
}

function checkInflated(inflated: number, packed: number, filename: string, limits: ReadLimits): void {
  if (inflated > limits.inflatedBytes) {
    throw new ReadError(
      'limit-exceeded',
      `${filename} inflates to more than the limit of ${formatByteCount(limits.inflatedBytes)}`,
    )
  }
  if (inflated > limits.ratioFloorBytes && inflated > packed * limits.inflateRatio) {
    throw new ReadError(
      'limit-exceeded',
      `${filename} inflates to more than ${limits.inflateRatio} times its size, which is past the decompression limit`,
    )
  }
}

interface ZipFile {
  bytes: Buffer
  filename: string
  limits: ReadLimits
}

function inflate({ bytes, filename, limits }: ZipFile, entry: ZipEntry, inflatedBefore: number): Buffer {
  if (entry.encrypted) throw new ReadError('encrypted', `${filename} is protected by a password`)
  const packed = getPackedBytes(bytes, entry, filename)
  if (entry.method === STORED) return packed
  if (entry.method !== DEFLATED) {
    throw new ReadError('malformed', `${filename} packs ${entry.name} with the unknown method ${entry.method}`)
  }
  const budget = Math.min(
    limits.inflatedBytes - inflatedBefore,
    Math.max(limits.ratioFloorBytes, bytes.length * limits.inflateRatio) - inflatedBefore,
  )
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, budget) })
  } catch (error) {
    if (
      error instanceof RangeError ||
      (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
    ) {
      checkInflated(inflatedBefore + budget + 1, bytes.length, filename, limits)
      throw new ReadError('limit-exceeded', `${filename} inflates past the decompression limit`, { cause: error })
    }
    throw new ReadError('malformed', `${filename} is damaged: ${entry.name} cannot be unpacked`, { cause: error })
  }
}

function getPackedBytes(bytes: Buffer, entry: ZipEntry, filename: string): Buffer {
  const { offset } = entry
  if (offset + LOCAL_SIZE > bytes.length || bytes.readUInt32LE(offset) !== LOCAL_SIGNATURE) {
    throw new ReadError(
      'malformed',
      `${filename} is damaged: ${entry.name} is not at the offset that the directory states`,
    )
  }
  const start = offset + LOCAL_SIZE + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
  const packed = bytes.subarray(start, start + entry.packedSize)
  if (packed.length < entry.packedSize) throw new ReadError('malformed', `${filename} is cut off in ${entry.name}`)
  return packed
}

function readDirectory(bytes: Buffer, filename: string, limits: ReadLimits): ZipEntry[] {
  const end = findEndRecord(bytes)
  if (end === -1)
    throw new ReadError('malformed', `${filename} is a zip archive without a directory; it may be cut off`)
  const count = bytes.readUInt16LE(end + 10)
  const entries: ZipEntry[] = []
  let offset = findDirectoryStart(bytes, end)
  // The archive may contain more entries than its 16-bit count states, so the directory itself decides.
  for (
    let entryNumber = 1;
    offset + CENTRAL_SIZE <= bytes.length && bytes.readUInt32LE(offset) === CENTRAL_SIGNATURE;
    entryNumber++
  ) {
    if (entryNumber > limits.archiveEntries) {
      const limit = limits.archiveEntries.toLocaleString('en-US')
      throw new ReadError('limit-exceeded', `${filename} has more archive entries than the limit of ${limit}`)
    }
    const { name, next } = readEntryName(bytes, offset)
    entries.push({
      name,
      method: bytes.readUInt16LE(offset + 10),
      encrypted: (bytes.readUInt16LE(offset + 8) & ENCRYPTED_FLAG) !== 0,
      isLink: (bytes.readUInt16LE(offset + 40) & TYPE_BITS) === SYMBOLIC_LINK,
      ...readSizesAndOffset(bytes, offset, filename),
      checksum: bytes.readUInt32LE(offset + 16),
    })
    offset = next
  }
  if (entries.length === 0 && count > 0) throw new ReadError('malformed', `${filename} has a damaged archive directory`)
  return entries
}

/** Sizes and offset of an entry; values with all bits set are in its zip64 extra field, in this order. */
function readSizesAndOffset(
  bytes: Buffer,
  recordOffset: number,
  filename: string,
): Pick<ZipEntry, 'size' | 'packedSize' | 'offset'> {
  const values = [
    bytes.readUInt32LE(recordOffset + 24),
    bytes.readUInt32LE(recordOffset + 20),
    bytes.readUInt32LE(recordOffset + 42),
  ]
  if (values.includes(ZIP64)) {
    const wide = findExtraField(bytes, recordOffset, ZIP64_EXTRA)
    let next = 0
    for (const [index, value] of values.entries()) {
      if (value !== ZIP64) continue
      if (wide === undefined || next + 8 > wide.length) {
        throw new ReadError('malformed', `${filename} has a damaged archive directory`)
      }
      values[index] = Number(wide.readBigUInt64LE(next))
      next += 8
    }
  }
  const [size = 0, packedSize = 0, offset = 0] = values
  return { size, packedSize, offset }
}

function findExtraField(bytes: Buffer, offset: number, fieldId: number): Buffer | undefined {
  const start = offset + CENTRAL_SIZE + bytes.readUInt16LE(offset + 28)
  const extra = bytes.subarray(start, start + bytes.readUInt16LE(offset + 30))
  for (let field = 0; field + 4 <= extra.length; field += 4 + extra.readUInt16LE(field + 2)) {
    if (extra.readUInt16LE(field) === fieldId)
      return extra.subarray(field + 4, field + 4 + extra.readUInt16LE(field + 2))
  }
  return undefined
}

/**
 * Start of the directory, which a zip64 archive has in a separate record; beyond the end of the file where there is
 * none.
 */
function findDirectoryStart(bytes: Buffer, end: number): number {
  const start = bytes.readUInt32LE(end + 16)
  const locator = end - ZIP64_LOCATOR_SIZE
  if (start !== ZIP64 || locator < 0 || bytes.readUInt32LE(locator) !== ZIP64_LOCATOR) return start
  const record = Number(bytes.readBigUInt64LE(locator + 8))
  if (record + ZIP64_END_SIZE > bytes.length || bytes.readUInt32LE(record) !== ZIP64_END) return start
  return Number(bytes.readBigUInt64LE(record + 48))
}

function findEndRecord(bytes: Buffer): number {
  const minOffset = Math.max(0, bytes.length - END_SIZE - MAX_COMMENT)
  for (let offset = bytes.length - END_SIZE; offset >= minOffset; offset--) {
    if (bytes.readUInt32LE(offset) === END_SIGNATURE) return offset
  }
  return -1
}
