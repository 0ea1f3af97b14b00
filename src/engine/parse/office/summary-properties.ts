import iconv from 'iconv-lite'

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
export function summaryProperties(streams: ReadonlyMap<string, Buffer>): SummaryProperties {
  const bytes = streams.get(STREAM)
  if (bytes === undefined) return {}
  const places = propertyPlaces(bytes)
  const codePage = codePageAt(bytes, places.get(CODE_PAGE))
  const found: SummaryProperties = {}
  const title = stringAt(bytes, places.get(TITLE), codePage)
  const author = stringAt(bytes, places.get(AUTHOR), codePage)
  const created = timeAt(bytes, places.get(CREATED))
  const modified = timeAt(bytes, places.get(MODIFIED))
  if (title !== undefined) found.title = title
  if (author !== undefined) found.author = author
  if (created !== undefined) found.created = created
  if (modified !== undefined) found.modified = modified
  return found
}

/** Offsets in the stream of the properties of its first set. */
function propertyPlaces(bytes: Buffer): Map<number, number> {
  const places = new Map<number, number>()
  if (bytes.length < 56) return places
  const set = bytes.readUInt32LE(44)
  if (set + 8 > bytes.length) return places
  const count = Math.min(bytes.readUInt32LE(set + 4), MAX_PROPERTIES)
  for (let index = 0; index < count; index++) {
    const at = set + 8 + index * 8
    if (at + 8 > bytes.length) break
    places.set(bytes.readUInt32LE(at), set + bytes.readUInt32LE(at + 4))
  }
  return places
}

function codePageAt(bytes: Buffer, at: number | undefined): string {
  if (at === undefined || at + 6 > bytes.length) return 'windows-1252'
  const number = bytes.readUInt16LE(at + 4)
  if (number === 65001) return 'utf-8'
  if (number === 1200) return 'utf-16le'
  return iconv.encodingExists(`cp${number}`) ? `cp${number}` : 'windows-1252'
}

function stringAt(bytes: Buffer, at: number | undefined, codePage: string): string | undefined {
  if (at === undefined || at + 8 > bytes.length) return undefined
  const type = bytes.readUInt16LE(at)
  if (type !== STRING8 && type !== STRING16) return undefined
  const length = Math.min(bytes.readUInt32LE(at + 4), MAX_STRING) * (type === STRING16 ? 2 : 1)
  const text = iconv.decode(bytes.subarray(at + 8, at + 8 + length), type === STRING16 ? 'utf-16le' : codePage)
  const clean = text.replace(/\0[\s\S]*$/, '').trim()
  return clean === '' ? undefined : clean
}

/** ISO 8601; undefined for zero, which programs write for "never". */
function timeAt(bytes: Buffer, at: number | undefined): string | undefined {
  if (at === undefined || at + 12 > bytes.length || bytes.readUInt16LE(at) !== FILE_TIME) return undefined
  const ms = Number(bytes.readBigUInt64LE(at + 4) / 10_000n) - EPOCH_1601
  const date = new Date(ms)
  return ms <= 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 ? undefined : date.toISOString()
}
