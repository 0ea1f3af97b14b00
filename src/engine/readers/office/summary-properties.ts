import iconv from 'iconv-lite'
import { omitUndefined } from '../../../lib/omit-undefined.js'

/** Properties of an old office document (MS-OLEPS, stream `\x05SummaryInformation`). */
export interface SummaryProperties {
  title?: string
  author?: string
  created?: string
  modified?: string
}

const STREAM = '\u0005SummaryInformation'
/** Ids of properties, and types of values. */
const CODE_PAGE = 1
const TITLE = 2
const AUTHOR = 4
const CREATED = 12
const MODIFIED = 13
const STRING8 = 30
const STRING16 = 31
const FILE_TIME = 64
const MAX_PROPERTIES = 100
const MAX_STRING = 2000
/** Milliseconds from 1601 to 1970. File times count 100-nanosecond steps from 1601. */
const EPOCH_1601 = 11_644_473_600_000

/** Reads title, author and dates; missing or damaged properties are left out. */
export function readSummaryProperties(streams: ReadonlyMap<string, Buffer>): SummaryProperties {
  const bytes = streams.get(STREAM)
  if (bytes === undefined) return {}
  const offsets = findPropertyOffsets(bytes)
  const codePage = readCodePage(bytes, offsets.get(CODE_PAGE))
  return omitUndefined({
    title: readString(bytes, offsets.get(TITLE), codePage),
    author: readString(bytes, offsets.get(AUTHOR), codePage),
    created: readTime(bytes, offsets.get(CREATED)),
    modified: readTime(bytes, offsets.get(MODIFIED)),
  })
}

/** Offsets in the stream of the properties of its first set. */
function findPropertyOffsets(bytes: Buffer): Map<number, number> {
  const offsets = new Map<number, number>()
  if (bytes.length < 56) return offsets
  const set = bytes.readUInt32LE(44)
  if (set + 8 > bytes.length) return offsets
  const count = Math.min(bytes.readUInt32LE(set + 4), MAX_PROPERTIES)
  for (let index = 0; index < count; index++) {
    const offset = set + 8 + index * 8
    if (offset + 8 > bytes.length) break
    offsets.set(bytes.readUInt32LE(offset), set + bytes.readUInt32LE(offset + 4))
  }
  return offsets
}

function readCodePage(bytes: Buffer, offset: number | undefined): string {
  if (offset === undefined || offset + 6 > bytes.length) return 'windows-1252'
  const number = bytes.readUInt16LE(offset + 4)
  if (number === 65001) return 'utf-8'
  if (number === 1200) return 'utf-16le'
  return iconv.encodingExists(`cp${number}`) ? `cp${number}` : 'windows-1252'
}

function readString(bytes: Buffer, offset: number | undefined, codePage: string): string | undefined {
  if (offset === undefined || offset + 8 > bytes.length) return undefined
  const type = bytes.readUInt16LE(offset)
  if (type !== STRING8 && type !== STRING16) return undefined
  const length = Math.min(bytes.readUInt32LE(offset + 4), MAX_STRING) * (type === STRING16 ? 2 : 1)
  const text = iconv.decode(bytes.subarray(offset + 8, offset + 8 + length), type === STRING16 ? 'utf-16le' : codePage)
  const clean = text.replace(/\0[\s\S]*$/, '').trim()
  return clean === '' ? undefined : clean
}

/** ISO 8601; undefined for zero, which programs write for "never". */
function readTime(bytes: Buffer, offset: number | undefined): string | undefined {
  if (offset === undefined || offset + 12 > bytes.length || bytes.readUInt16LE(offset) !== FILE_TIME) return undefined
  const ms = Number(bytes.readBigUInt64LE(offset + 4) / 10_000n) - EPOCH_1601
  const date = new Date(ms)
  return ms <= 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 ? undefined : date.toISOString()
}
