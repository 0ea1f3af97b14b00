/** Places in the header of a compound file (MS-CFB 2.2). */
const SECTOR_SHIFT = 30
const DIFAT_START = 68
const HEADER_DIFAT = 76
const HEADER_FATS = 109
const HEADER_SIZE = 512
/** Sectors have 512 or 4096 bytes. */
const SHIFTS = new Set([9, 12])

/**
 * Whether no chain of sectors of a compound file leads back into itself: a library that follows such a chain does not
 * come to an end. Linear in the size of the file.
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
  // 0 not seen, 1 on the chain that is followed now, 2 known to end
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

/** The sectors that hold the allocation table: those in the header, then those in sectors of their own. */
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
