import { CFB } from '@e965/xlsx'
import { openZip } from '../../../src/engine/readers/archive/zip.js'
import { buildStoredZip } from '../../../src/engine/readers/archive/zip-store.js'
import { DEFAULT_LIMITS, ReadError } from '../../../src/engine/readers/limits.js'

/** Returns a number from 0 to 1. */
type Random = () => number

/** of a range that is removed, repeated or overwritten */
const MAX_RANGE_BYTES = 64
const MAX_COPIES = 50
const MAX_FLIPS = 20
/** Most formats have their type and sizes here. */
const HEADER_BYTES = 120
/** Numbers that are hard to handle for readers. */
const NUMBERS = ['0', '-1', '65536', '2147483648', '99999999999999', '1e308', 'NaN']
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/**
 * Returns a damaged copy of a file: truncated, with flipped bits, with removed, repeated, swapped or overwritten ranges, or
 * with other numbers in its text. In archives and compound files half of the damage is in a part, with valid checksums.
 */
export function damage(bytes: Buffer, random: Random): Buffer {
  if (random() < 0.5) {
    const file = unpack(bytes)
    if (file !== undefined && file.parts.length > 0) return damagePart(file, random)
  }
  return damageBytes(bytes, random)
}

function damageBytes(bytes: Buffer, random: Random): Buffer {
  if (bytes.length === 0) return bytes
  const randomBelow = (max: number): number => Math.floor(random() * max)
  // the header is small, but everything else depends on it
  const offset = random() < 0.4 ? randomBelow(Math.min(HEADER_BYTES, bytes.length)) : randomBelow(bytes.length)
  const length = 1 + randomBelow(Math.min(MAX_RANGE_BYTES, bytes.length))
  const [before, after] = [bytes.subarray(0, offset), bytes.subarray(offset)]
  switch (randomBelow(7)) {
    case 0:
      return before
    case 1:
      return Buffer.concat([before, after.subarray(length)])
    case 2: {
      const range = after.subarray(0, length)
      return Buffer.concat([before, ...Array<Buffer>(1 + randomBelow(MAX_COPIES)).fill(range), after])
    }
    case 3: {
      const copy = Buffer.from(bytes)
      return copy.fill(
        [0, 0xff, randomBelow(256)][randomBelow(3)] ?? 0,
        offset,
        Math.min(copy.length, offset + Math.min(length, 8)),
      )
    }
    case 4:
      return replaceNumber(bytes, offset, NUMBERS[randomBelow(NUMBERS.length)] ?? '0')
    case 5: {
      // a range overwrites another
      const other = randomBelow(bytes.length)
      const copy = Buffer.from(bytes)
      bytes.copy(copy, offset, other, Math.min(other + length, bytes.length))
      return copy
    }
    default: {
      const copy = Buffer.from(bytes)
      for (let flips = 1 + randomBelow(MAX_FLIPS); flips > 0; flips--) {
        const index = randomBelow(copy.length)
        copy[index] = (copy[index] ?? 0) ^ (1 << randomBelow(8))
      }
      return copy
    }
  }
}

/** Replaces the first number in digits after an offset. */
function replaceNumber(bytes: Buffer, offset: number, number: string): Buffer {
  const isDigit = (index: number): boolean => (bytes[index] ?? 0) >= 0x30 && (bytes[index] ?? 0) <= 0x39
  let start = offset
  while (start < bytes.length && !isDigit(start)) start++
  let end = start
  while (end < bytes.length && isDigit(end)) end++
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(number), bytes.subarray(end)])
}

interface PackedFile {
  parts: { name: string; content: Buffer }[]
  pack(parts: { name: string; content: Buffer }[]): Buffer
}

function damagePart({ parts, pack }: PackedFile, random: Random): Buffer {
  const selectedIndex = Math.floor(random() * parts.length)
  return pack(
    parts.map(({ name, content }, index) => ({
      name,
      content: index === selectedIndex ? damageBytes(content, random) : content,
    })),
  )
}

function unpack(bytes: Buffer): PackedFile | undefined {
  try {
    if (bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return unpackZip(bytes)
    return bytes.subarray(0, COMPOUND.length).equals(COMPOUND) ? unpackCompound(bytes) : undefined
  } catch (error) {
    if (error instanceof ReadError) return undefined
    throw error
  }
}

function unpackZip(bytes: Buffer): PackedFile {
  const zip = openZip(bytes, 'archive', DEFAULT_LIMITS)
  return {
    parts: [...zip.entries.keys()].map((name) => ({ name, content: zip.read(name) })),
    pack: (parts) => buildStoredZip(parts.map(({ name, content }) => [name, content] as const)),
  }
}

function unpackCompound(bytes: Buffer): PackedFile {
  const file = CFB.read(bytes, { type: 'buffer' })
  const parts = file.FullPaths.flatMap((path: string, index: number) => {
    const content = file.FileIndex[index]?.content
    return path.endsWith('/') || content === undefined || content.length === 0
      ? []
      : [{ name: path.slice(path.indexOf('/')), content: Buffer.from(content) }]
  })
  return {
    parts,
    pack(damagedParts) {
      const container = CFB.utils.cfb_new()
      for (const { name, content } of damagedParts) CFB.utils.cfb_add(container, name, content)
      return CFB.write(container, { type: 'buffer' })
    },
  }
}
