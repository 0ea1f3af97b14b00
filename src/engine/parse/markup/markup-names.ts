/** Longer names are not cached: as slices of a text they would keep all of it in memory. */
const MAX_LENGTH = 12
/** A power of two. A new name replaces the one in its slot. */
const PLACES = 1024
/** Names that most pages use, cached from the start. */
const COMMON =
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
  readonly #written = new Array<string>(PLACES).fill('')
  readonly #names = new Array<string>(PLACES).fill('')
  readonly #lowerCase: boolean

  /** @param lowerCase whether names are converted to lower case, as in HTML */
  constructor(lowerCase: boolean) {
    this.#lowerCase = lowerCase
    // keys of objects are the same strings as the literals of the program
    for (const name of Object.keys(Object.fromEntries(COMMON.split(' ').map((name) => [name, 0])))) {
      const place = placeOf(name, 0, name.length)
      this.#written[place] = name
      this.#names[place] = name
    }
  }

  read(source: string, start: number, end: number): string {
    if (end - start > MAX_LENGTH) return this.#name(source.slice(start, end))
    const place = placeOf(source, start, end)
    if (isAt(this.#written[place] ?? '', source, start, end)) return this.#names[place] ?? ''
    const written = source.slice(start, end)
    const name = this.#name(written)
    this.#written[place] = written
    this.#names[place] = name
    return name
  }

  #name(written: string): string {
    return this.#lowerCase ? written.toLowerCase() : written
  }
}

function placeOf(source: string, start: number, end: number): number {
  let place = end - start
  for (let at = start; at < end; at++) place = (place * 31 + source.charCodeAt(at)) & (PLACES - 1)
  return place
}

function isAt(name: string, source: string, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let at = start; at < end; at++) if (name.charCodeAt(at - start) !== source.charCodeAt(at)) return false
  return true
}
