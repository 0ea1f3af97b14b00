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
export function hasNoCycles(bytes: Buffer): boolean {
  const shift = bytes.length < HEADER_SIZE ? 0 : bytes.readUInt16LE(SECTOR_SHIFT)
  if (!SHIFTS.has(shift)) return true
  const size = 1 << shift
  const fatList = readFatSectors(bytes, size)
  const perSector = size / 4
  const next = (sector: number): number => {
    const offset = (fatList[Math.floor(sector / perSector)] ?? -1) * size + size + (sector % perSector) * 4
    return offset >= size && offset + 4 <= bytes.length ? bytes.readInt32LE(offset) : -1
  }
  const count = fatList.length * perSector
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
const ENTRY_BYTES = 128
/** Maximal number of directory entries that are read to determine the type of a file. */
const MAX_ENTRIES = 10_000

/**
 * Reads the names at the top level of a compound file, if its directory can be followed. The streams of embedded
 * documents are in deeper levels.
 */
export function readTopNames(bytes: Buffer): Set<string> {
  const names = new Set<string>()
  const shift = bytes.length < HEADER_SIZE ? 0 : bytes.readUInt16LE(SECTOR_SHIFT)
  if (!SHIFTS.has(shift)) return names
  const entries = readDirectoryEntries(bytes, 1 << shift)
  const pending = [entries[0]?.child ?? -1]
  const seen = new Set<number>()
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    const entry = entries[index]
    if (entry === undefined || seen.has(index)) continue
    seen.add(index)
    names.add(entry.name)
    pending.push(entry.left, entry.right)
  }
  return names
}

function readDirectoryEntries(
  bytes: Buffer,
  size: number,
): { name: string; left: number; right: number; child: number }[] {
  const entries = []
  const fatList = readFatSectors(bytes, size)
  let sector = bytes.readInt32LE(DIRECTORY_START)
  while (sector >= 0 && entries.length < MAX_ENTRIES) {
    const start = (sector + 1) * size
    if (start + size > bytes.length) break
    for (let offset = start; offset < start + size; offset += ENTRY_BYTES) {
      const length = Math.min(Math.max(bytes.readUInt16LE(offset + 64) - 2, 0), 62)
      entries.push({
        name: bytes.toString('utf16le', offset, offset + length),
        left: bytes.readInt32LE(offset + 68),
        right: bytes.readInt32LE(offset + 72),
        child: bytes.readInt32LE(offset + 76),
      })
    }
    const perSector = size / 4
    const nextOffset = ((fatList[Math.floor(sector / perSector)] ?? -2) + 1) * size + (sector % perSector) * 4
    sector = nextOffset >= size && nextOffset + 4 <= bytes.length ? bytes.readInt32LE(nextOffset) : -1
  }
  return entries
}

/** The sectors of the allocation table: those listed in the header, then those listed in separate sectors. */
function readFatSectors(bytes: Buffer, size: number): number[] {
  const sectors: number[] = []
  const maxSectors = Math.ceil(bytes.length / size)
  for (let index = 0; index < HEADER_FATS; index++) {
    const sector = bytes.readInt32LE(HEADER_DIFAT + index * 4)
    if (sector < 0) break
    sectors.push(sector)
  }
  let difatSector = bytes.readInt32LE(DIFAT_START)
  for (let visited = 0; difatSector >= 0 && visited < maxSectors; visited++) {
    const start = (difatSector + 1) * size
    if (start + size > bytes.length) break
    for (let offset = start; offset < start + size - 4 && sectors.length <= maxSectors; offset += 4)
      sectors.push(bytes.readInt32LE(offset))
    difatSector = bytes.readInt32LE(start + size - 4)
  }
  return sectors.slice(0, maxSectors)
}
