import { toHalf } from '../../store/half.js'
import { isIndexableTerm } from '../text-index.js'

/* Values as PostgreSQL literals. Terms are untrusted data: everything in them is escaped. */

/** Prefix of all lexemes of a space, so that its terms have separate posting lists in the shared index. */
export function getLexemePrefix(space: number): string {
  return `${space.toString(36)} `
}

/** Whether PostgreSQL can store a term: an unpaired surrogate is not valid text. */
export function isStorable(term: string): boolean {
  return isIndexableTerm(term) && !UNPAIRED_SURROGATE.test(term)
}

/** A surrogate without its counterpart. */
const UNPAIRED_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** `tsvector` stores no more positions per lexeme. */
const MAX_POSITIONS = 255
/** Limit below the 1 MB of a `tsvector`; terms after it are not found in a very long node. */
const MAX_TSVECTOR_BYTES = 900_000

/**
 * Terms as a `tsvector` literal; each lexeme has as many positions as it has occurrences. `length` counts the stored
 * terms.
 */
export function toTsvector(prefix: string, terms: readonly string[]): { length: number; text: string } {
  const counts = new Map<string, number>()
  let length = 0
  let bytes = 0
  for (const term of terms) {
    if (!isStorable(term)) continue
    const count = counts.get(term)
    if (count === undefined) bytes += Buffer.byteLength(term) + prefix.length + LEXEME_ENTRY_BYTES
    if (bytes > MAX_TSVECTOR_BYTES) break
    counts.set(term, (count ?? 0) + 1)
    length++
  }
  const text = Array.from(
    counts,
    ([term, count]) => `${quoteLexeme(prefix + term)}:${POSITION_LISTS[Math.min(count, MAX_POSITIONS)]}`,
  )
  return { length, text: text.join(' ') }
}

/** Bytes of a lexeme's entry, its alignment and one position. */
const LEXEME_ENTRY_BYTES = 12

/** `1`, `1,2`, `1,2,3`, … */
const POSITION_LISTS: readonly string[] = Array.from({ length: MAX_POSITIONS + 1 }, (_, count) =>
  Array.from({ length: count }, (_, index) => index + 1).join(','),
)

/** Quotes a lexeme for `tsvector` and `tsquery`. */
export function quoteLexeme(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

export function toTextArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`
}

/** SQL condition: the document of a node is in a scope, whose documents are the parameter. */
export function buildScopeCondition({ isExcluded }: { isExcluded: boolean }): string {
  return `doc ${isExcluded ? '<> ALL' : '= ANY'}(?::bigint[])`
}

export function toNumberArray(values: Iterable<number>): string {
  return `{${[...values].join(',')}}`
}

/** Computes the occurrences of a term from the rank of that term alone, which grows with the sum of 1/1, 1/4, 1/9, … */
export function computeOccurrences(rank: number): number {
  return rank <= 0 ? 0 : Math.max(1, Math.round(1 / (POSITION_SUM_LIMIT * (1 - rank)) - 0.5))
}

/** Limit of that sum, by which `ts_rank` divides. */
const POSITION_SUM_LIMIT = Math.PI ** 2 / 6

const HEADER_BYTES = 4

/** A vector in the binary format of `halfvec`. @param halves float32 numbers, or the bits of float16 numbers */
export function toHalfvec(halves: Float32Array | Uint16Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + 2 * halves.length)
  bytes.writeUInt16BE(halves.length, 0)
  bytes.writeUInt16BE(0, 2)
  writeHalves(halves, bytes, HEADER_BYTES)
  return bytes
}

/**
 * Several vectors as one binary array.
 *
 * @param type object id of `halfvec`
 * @param rows indexes of the vectors to take
 */
export function toHalfvecArray(
  type: number,
  values: Float32Array | Uint16Array,
  dimension: number,
  rows: readonly number[],
): Buffer {
  const size = HEADER_BYTES + 2 * dimension
  const bytes = Buffer.allocUnsafe(ARRAY_BYTES + rows.length * (4 + size))
  // header: one dimension without NULLs, counted from 1
  const header = [1, 0, type, rows.length, 1]
  for (const [index, value] of header.entries()) bytes.writeUInt32BE(value, 4 * index)
  rows.forEach((row, index) => {
    const offset = ARRAY_BYTES + index * (4 + size)
    bytes.writeUInt32BE(size, offset)
    bytes.writeUInt16BE(dimension, offset + 4)
    bytes.writeUInt16BE(0, offset + 6)
    writeHalves(values.subarray(row * dimension, (row + 1) * dimension), bytes, offset + 4 + HEADER_BYTES)
  })
  return bytes
}

const ARRAY_BYTES = 20

function writeHalves(values: Float32Array | Uint16Array, bytes: Buffer, offset: number): void {
  const areHalves = values instanceof Uint16Array
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0
    bytes.writeUInt16BE(areHalves ? value : toHalf(value), offset + 2 * i)
  }
}
