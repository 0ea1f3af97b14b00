/** Longer names are not cached: as slices of a text they would keep all of it in memory. */
const MAX_CACHED_LENGTH = 12
/** A power of two. A new name replaces the one in its slot. */
const CACHE_SIZE = 1024
/** Names that most pages use, cached from the start. */
const COMMON_NAMES =
  'a abbr article aside b blockquote body br button caption center code col colgroup dd div dl dt em figcaption figure font ' +
  'footer form h1 h2 h3 h4 h5 h6 head header hr html i img input label li link main meta nav ol option p pre script section ' +
  'small span strong style sub summary sup table tbody td tfoot th thead time title tr u ul ' +
  'align alt border cellpadding cellspacing class color colspan content height href id lang name rel role rowspan src type ' +
  'valign width'

/**
 * Reads names of tags and attributes from texts. Equal names are the same string each time, which makes comparisons
 * fast.
 */
export class MarkupNames {
  readonly #written = new Array<string>(CACHE_SIZE).fill('')
  readonly #names = new Array<string>(CACHE_SIZE).fill('')
  readonly #isLowerCase: boolean

  /** @param options `isLowerCase`: names are converted to lower case, as in HTML */
  constructor({ isLowerCase }: { isLowerCase: boolean }) {
    this.#isLowerCase = isLowerCase
    // keys of objects are the same strings as the literals of the program
    for (const name of Object.keys(Object.fromEntries(COMMON_NAMES.split(' ').map((name) => [name, 0])))) {
      const slot = hashName(name, 0, name.length)
      this.#written[slot] = name
      this.#names[slot] = name
    }
  }

  read(source: string, start: number, end: number): string {
    if (end - start > MAX_CACHED_LENGTH) return this.#normalize(source.slice(start, end))
    const slot = hashName(source, start, end)
    if (matchesAt(this.#written[slot] ?? '', source, start, end)) return this.#names[slot] ?? ''
    const written = source.slice(start, end)
    const name = this.#normalize(written)
    this.#written[slot] = written
    this.#names[slot] = name
    return name
  }

  #normalize(written: string): string {
    return this.#isLowerCase ? written.toLowerCase() : written
  }
}

function hashName(source: string, start: number, end: number): number {
  let slot = end - start
  for (let index = start; index < end; index++) slot = (slot * 31 + source.charCodeAt(index)) & (CACHE_SIZE - 1)
  return slot
}

function matchesAt(name: string, source: string, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let index = start; index < end; index++)
    if (name.charCodeAt(index - start) !== source.charCodeAt(index)) return false
  return true
}
