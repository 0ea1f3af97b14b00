/** Offsets in the header of a compound file (MS-CFB 2.2). */
const SECTOR_SHIFT = 30
const DIFAT_START = 68
const HEADER_DIFAT = 76
const HEADER_FATS = 109
const HEADER_SIZE = 512
/** log2 of the sector size: 512 or 4096 bytes. */
const SHIFTS = new Set([9, 12])

/**
 * Whether no sector chain of a compound file contains a cycle: a library that follows such a chain never ends. Linear
 * in the size of the file.
 */
export function chainsEnd(bytes: Buffer): boolean {
  const shift = bytes.length < HEADER_SIZE ? 0 : bytes.readUInt16LE(SECTOR_SHIFT)
  if (!SHIFTS.has(shift)) return true
  const size = 1 << shift
  const fat = fatSectors(bytes, size)
  const perSector = size / 4
  const next = (sector: number): number => {
    const at = (fat[Math.floor(sector / perSector)] ?? -1) * size + size + (sector % perSector) * 4
    return at >= size && at + 4 <= bytes.length ? bytes.readInt32LE(at) : -1
  }
  const count = fat.length * perSector
  // 0: not visited, 1: on the current chain, 2: known to end
  const marks = new Uint8Array(count)
  for (let start = 0; start < count; start++) {
    let sector = start
    while (sector >= 0 && sector < count && marks[sector] === 0) {
      marks[sector] = 1
      sector = next(sector)
    }
    if (sector >= 0 && marks[sector] === 1) return false
    for (sector = start; sector >= 0 && sector < count && marks[sector] === 1; sector = next(sector)) marks[sector] = 2
  }
  return true
}

/** Offset of the start of the directory in the header. */
const DIRECTORY_START = 48
const ENTRY = 128
/** Maximal number of directory entries that are read to determine the type of a file. */
const ENTRIES_LOOKED_AT = 10_000

/**
 * Reads the names at the top level of a compound file, if its directory can be followed. The streams of embedded
 * documents are in deeper levels.
 */
export function topNames(bytes: Buffer): Set<string> {
  const names = new Set<string>()
  const shift = bytes.length < HEADER_SIZE ? 0 : bytes.readUInt16LE(SECTOR_SHIFT)
  if (!SHIFTS.has(shift)) return names
  const entries = directoryEntries(bytes, 1 << shift)
  const waiting = [entries[0]?.child ?? -1]
  const seen = new Set<number>()
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    const entry = entries[index]
    if (entry === undefined || seen.has(index)) continue
    seen.add(index)
    names.add(entry.name)
    waiting.push(entry.left, entry.right)
  }
  return names
}

function directoryEntries(bytes: Buffer, size: number): { name: string; left: number; right: number; child: number }[] {
  const entries = []
  const fat = fatSectors(bytes, size)
  let sector = bytes.readInt32LE(DIRECTORY_START)
  while (sector >= 0 && entries.length < ENTRIES_LOOKED_AT) {
    const start = (sector + 1) * size
    if (start + size > bytes.length) break
    for (let at = start; at < start + size; at += ENTRY) {
      const length = Math.min(Math.max(bytes.readUInt16LE(at + 64) - 2, 0), 62)
      entries.push({
        name: bytes.toString('utf16le', at, at + length),
        left: bytes.readInt32LE(at + 68),
        right: bytes.readInt32LE(at + 72),
        child: bytes.readInt32LE(at + 76),
      })
    }
    const perSector = size / 4
    const place = ((fat[Math.floor(sector / perSector)] ?? -2) + 1) * size + (sector % perSector) * 4
    sector = place >= size && place + 4 <= bytes.length ? bytes.readInt32LE(place) : -1
  }
  return entries
}

/** The sectors of the allocation table: those listed in the header, then those listed in separate sectors. */
function fatSectors(bytes: Buffer, size: number): number[] {
  const found: number[] = []
  const most = Math.ceil(bytes.length / size)
  for (let index = 0; index < HEADER_FATS; index++) {
    const sector = bytes.readInt32LE(HEADER_DIFAT + index * 4)
    if (sector < 0) break
    found.push(sector)
  }
  let at = bytes.readInt32LE(DIFAT_START)
  for (let seen = 0; at >= 0 && seen < most; seen++) {
    const start = (at + 1) * size
    if (start + size > bytes.length) break
    for (let place = start; place < start + size - 4 && found.length <= most; place += 4)
      found.push(bytes.readInt32LE(place))
    at = bytes.readInt32LE(start + size - 4)
  }
  return found.slice(0, most)
}
