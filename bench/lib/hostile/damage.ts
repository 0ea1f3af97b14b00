import { CFB } from '@e965/xlsx'
import { openZip } from '../../../src/engine/readers/archive/zip.js'
import { buildStoredZip } from '../../../src/engine/readers/archive/zip-store.js'
import { DEFAULT_LIMITS, ReadError } from '../../../src/engine/readers/limits.js'

/** From 0 to 1. */
type Random = () => number

/** A stretch that is cut out, doubled or overwritten is no longer than this. */
const LONGEST_STRETCH = 64
const MOST_COPIES = 50
const MOST_FLIPS = 20
/** Where most formats say what they are, and how large. */
const HEAD = 120
/** Numbers that readers trip over. */
const NUMBERS = ['0', '-1', '65536', '2147483648', '99999999999999', '1e308', 'NaN']
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/**
 * A copy of a file that is damaged: cut off, with flipped bits, stretches that are missing, doubled, many times there or overwritten, other
 * numbers in its text. In archives and compound files half of the damage is within a part, behind checksums that hold.
 */
export function damaged(bytes: Buffer, random: Random): Buffer {
  if (random() < 0.5) {
    const parts = partsOf(bytes)
    if (parts !== undefined && parts.list.length > 0) return withDamagedPart(parts, random)
  }
  return damagedBytes(bytes, random)
}

function damagedBytes(bytes: Buffer, random: Random): Buffer {
  if (bytes.length === 0) return bytes
  const below = (most: number): number => Math.floor(random() * most)
  // the head is small, and what it says counts for all the rest
  const at = random() < 0.4 ? below(Math.min(HEAD, bytes.length)) : below(bytes.length)
  const length = 1 + below(Math.min(LONGEST_STRETCH, bytes.length))
  const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (below(7)) {
    case 0:
      return before
    case 1:
      return Buffer.concat([before, behind.subarray(length)])
    case 2: {
      const stretch = behind.subarray(0, length)
      return Buffer.concat([before, ...Array<Buffer>(1 + below(MOST_COPIES)).fill(stretch), behind])
    }
    case 3: {
      const copy = Buffer.from(bytes)
      return copy.fill([0, 0xff, below(256)][below(3)] ?? 0, at, Math.min(copy.length, at + Math.min(length, 8)))
    }
    case 4:
      return withOtherNumber(bytes, at, NUMBERS[below(NUMBERS.length)] ?? '0')
    case 5: {
      // two stretches change places
      const other = below(bytes.length)
      const copy = Buffer.from(bytes)
      bytes.copy(copy, at, other, Math.min(other + length, bytes.length))
      return copy
    }
    default: {
      const copy = Buffer.from(bytes)
      for (let flips = 1 + below(MOST_FLIPS); flips > 0; flips--) {
        const place = below(copy.length)
        copy[place] = (copy[place] ?? 0) ^ (1 << below(8))
      }
      return copy
    }
  }
}

/** The first number in digits behind a place becomes another one. */
function withOtherNumber(bytes: Buffer, at: number, number: string): Buffer {
  const isDigit = (place: number): boolean => (bytes[place] ?? 0) >= 0x30 && (bytes[place] ?? 0) <= 0x39
  let start = at
  while (start < bytes.length && !isDigit(start)) start++
  let end = start
  while (end < bytes.length && isDigit(end)) end++
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(number), bytes.subarray(end)])
}

/** What a file is packed of, and how it is packed again. */
interface Parts {
  list: { name: string; content: Buffer }[]
  pack(list: { name: string; content: Buffer }[]): Buffer
}

function withDamagedPart({ list, pack }: Parts, random: Random): Buffer {
  const chosen = Math.floor(random() * list.length)
  return pack(
    list.map(({ name, content }, place) => ({
      name,
      content: place === chosen ? damagedBytes(content, random) : content,
    })),
  )
}

function partsOf(bytes: Buffer): Parts | undefined {
  try {
    if (bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return zipParts(bytes)
    return bytes.subarray(0, COMPOUND.length).equals(COMPOUND) ? compoundParts(bytes) : undefined
  } catch (error) {
    if (error instanceof ReadError) return undefined
    throw error
  }
}

function zipParts(bytes: Buffer): Parts {
  const zip = openZip(bytes, 'archive', DEFAULT_LIMITS)
  return {
    list: [...zip.entries.keys()].map((name) => ({ name, content: zip.read(name) })),
    pack: (list) => buildStoredZip(list.map(({ name, content }) => [name, content] as const)),
  }
}

function compoundParts(bytes: Buffer): Parts {
  const file = CFB.read(bytes, { type: 'buffer' })
  const streams = file.FullPaths.flatMap((path: string, place: number) => {
    const content = file.FileIndex[place]?.content
    return path.endsWith('/') || content === undefined || content.length === 0
      ? []
      : [{ name: path.slice(path.indexOf('/')), content: Buffer.from(content) }]
  })
  return {
    list: streams,
    pack(list) {
      const made = CFB.utils.cfb_new()
      for (const { name, content } of list) CFB.utils.cfb_add(made, name, content)
      return CFB.write(made, { type: 'buffer' })
    },
  }
}
