import { toHalf } from '../../storage/half.js'
import { isTerm } from '../text-index.js'

/* Values as PostgreSQL literals. Terms are untrusted data: everything in them is escaped. */

/** Prefix of all lexemes of a space, so that its terms have separate posting lists in the shared index. */
export function prefixOf(space: number): string {
  return `${space.toString(36)} `
}

/** Whether PostgreSQL can store a term: an unpaired surrogate is not valid text. */
export function isStorable(term: string): boolean {
  return isTerm(term) && !UNPAIRED.test(term)
}

/** A surrogate without its counterpart. */
const UNPAIRED = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** `tsvector` stores no more positions per lexeme. */
const MOST_PLACES = 255
/** Limit below the 1 MB of a `tsvector`; terms after it are not found in a very long node. */
const MOST_BYTES = 900_000

/**
 * Terms as a `tsvector` literal; each lexeme has as many positions as it has occurrences. `length` counts the stored
 * terms.
 */
export function vectorOfTerms(prefix: string, terms: readonly string[]): { length: number; text: string } {
  const counts = new Map<string, number>()
  let length = 0
  let bytes = 0
  for (const term of terms) {
    if (!isStorable(term)) continue
    const count = counts.get(term)
    if (count === undefined) bytes += Buffer.byteLength(term) + prefix.length + WORD_BYTES
    if (bytes > MOST_BYTES) break
    counts.set(term, (count ?? 0) + 1)
    length++
  }
  const text = Array.from(counts, ([term, count]) => `${quoted(prefix + term)}:${PLACES[Math.min(count, MOST_PLACES)]}`)
  return { length, text: text.join(' ') }
}

/** Bytes of a lexeme's entry, its alignment and one position. */
const WORD_BYTES = 12

/** `1`, `1,2`, `1,2,3`, … */
const PLACES: readonly string[] = Array.from({ length: MOST_PLACES + 1 }, (_, count) =>
  Array.from({ length: count }, (_, place) => place + 1).join(','),
)

/** Quotes a lexeme for `tsvector` and `tsquery`. */
export function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`
}

/** SQL condition: the document in a column is in a scope, whose documents are the parameter. */
export function isInScope(column: string, { isExcluded }: { isExcluded: boolean }): string {
  return `${column} ${isExcluded ? '<> ALL' : '= ANY'}(?::bigint[])`
}

export function numberArray(values: Iterable<number>): string {
  return `{${[...values].join(',')}}`
}

/** Computes the occurrences of a term from the rank of that term alone, which grows with the sum of 1/1, 1/4, 1/9, … */
export function placesOf(rank: number): number {
  return rank <= 0 ? 0 : Math.max(1, Math.round(1 / (ALL_PLACES * (1 - rank)) - 0.5))
}

/** Limit of that sum, by which `ts_rank` divides. */
const ALL_PLACES = Math.PI ** 2 / 6

const DIMENSION_BYTES = 4

/** A vector in the binary format of `halfvec`. @param halves float32 numbers, or the bits of float16 numbers */
export function halfvec(halves: Float32Array | Uint16Array): Buffer {
  const bytes = Buffer.allocUnsafe(DIMENSION_BYTES + 2 * halves.length)
  bytes.writeUInt16BE(halves.length, 0)
  bytes.writeUInt16BE(0, 2)
  writeHalves(halves, bytes, DIMENSION_BYTES)
  return bytes
}

/**
 * Several vectors as one binary array.
 *
 * @param type object id of `halfvec`
 * @param rows indexes of the vectors to take
 */
export function halfvecArray(
  type: number,
  values: Float32Array | Uint16Array,
  dimension: number,
  rows: readonly number[],
): Buffer {
  const size = DIMENSION_BYTES + 2 * dimension
  const bytes = Buffer.allocUnsafe(ARRAY_BYTES + rows.length * (4 + size))
  // header: one dimension without NULLs, counted from 1
  const head = [1, 0, type, rows.length, 1]
  for (const [place, value] of head.entries()) bytes.writeUInt32BE(value, 4 * place)
  rows.forEach((row, place) => {
    const at = ARRAY_BYTES + place * (4 + size)
    bytes.writeUInt32BE(size, at)
    bytes.writeUInt16BE(dimension, at + 4)
    bytes.writeUInt16BE(0, at + 6)
    writeHalves(values.subarray(row * dimension, (row + 1) * dimension), bytes, at + 4 + DIMENSION_BYTES)
  })
  return bytes
}

const ARRAY_BYTES = 20

function writeHalves(values: Float32Array | Uint16Array, bytes: Buffer, at: number): void {
  const areHalves = values instanceof Uint16Array
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0
    bytes.writeUInt16BE(areHalves ? value : toHalf(value), at + 2 * i)
  }
}
