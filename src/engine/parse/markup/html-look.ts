import { addSize, emptyLook, type Look } from '../looks.js'
import type { Attributes } from './markup-events.js'
import { PAGE, type PageArea, PageAreas } from './page-areas.js'

interface Style {
  bold: boolean
  italic: boolean
  underlined: boolean
  linked: boolean
  /** in points */
  size: number
  /** hash of the style */
  place: number
}

const PLAIN: Style = { bold: false, italic: false, underlined: false, linked: false, size: 12, place: 0 }
const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Elements that implicitly close an open one of the same kind, and the containers that stop this. */
const ENDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    p: 'div td th li table ul ol section article',
    li: 'ul ol table',
    tr: 'table',
    td: 'table',
    th: 'table',
  }).map(([name, within]) => [name, new Set(within.split(' '))] as const),
)
const BOLD = new Set('b strong th h1 h2 h3 h4 h5 h6'.split(' '))
const ITALIC = new Set('i em cite dfn var address'.split(' '))
/** Elements that change the style of their text. */
const SETS = new Set([...BOLD, ...ITALIC, 'u', 'ins', 'a', 'big', 'small', 'font'])
/** Effect of an element on the style of its text. */
interface Kind {
  isVoid: boolean
  endsWithin: ReadonlySet<string> | undefined
  sets: boolean
}
const KINDS: ReadonlyMap<string, Kind> = new Map(
  [...new Set([...VOID, ...ENDS.keys(), ...SETS])].map((name) => [
    name,
    { isVoid: VOID.has(name), endsWithin: ENDS.get(name), sets: SETS.has(name) },
  ]),
)
/** Sizes of `<font size>` in points. */
const FONT_SIZES = [7.5, 10, 12, 13.5, 18, 24, 36]
/** Elements nest some tens deep; deeper ones have the style of this depth. */
const MAX_DEPTH = 200
const LOOK_BACK = 40
/** Maximum length of style sheets, and maximum number of classes. */
const MAX_SHEET = 256 * 1024
const MAX_CLASSES = 5000
/** Number of cached styles: a power of two. */
const KNOWN_STYLES = 1024

/** An open element. */
interface Open {
  name: string
  style: Style
  /** traits of its area, and whether the area starts with it */
  said: PageArea
  begins: boolean
  /** created with the first text: most elements contain no text of their own */
  area: PageArea | undefined
}

interface KnownStyle {
  outer: Style
  name: string
  classes: string | undefined
  own: string | undefined
  style: Style
}

/** Tracks the style of text while the elements of a page are read. */
export class HtmlLook {
  readonly #open: Open[] = []
  readonly #areas: PageAreas | undefined
  #styles: (KnownStyle | undefined)[] | undefined
  #stylesCount = 1
  readonly #classes = new Map<string, string>()
  #sheet: string[] | undefined
  #sheetLength = 0
  #look = emptyLook()

  /** @param withAreas whether the areas of the page are needed */
  constructor(withAreas: boolean) {
    this.#areas = withAreas ? new PageAreas() : undefined
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'style') this.#sheet = []
    const kind = KINDS.get(name)
    if (kind?.isVoid === true) return
    if (kind?.endsWithin !== undefined) this.#endOpen(name, kind.endsWithin)
    if (this.#open.length >= MAX_DEPTH) return
    const outer = this.#open[this.#open.length - 1]
    const style = this.#styleOf(outer?.style ?? PLAIN, name, kind?.sets === true, attributes)
    const around = outer?.said ?? PAGE
    const said = this.#areas?.opened(around, name, attributes)
    this.#open.push({ name, style, said: said ?? around, begins: said !== undefined, area: undefined })
  }

  close(name: string): void {
    if (name === 'style') this.#readSheet()
    for (let at = this.#open.length - 1; at >= Math.max(0, this.#open.length - LOOK_BACK); at--) {
      if (this.#open[at]?.name !== name) continue
      this.#endFrom(at)
      return
    }
  }

  /** Adds text that is not for readers: style sheets determine the style of the rest. */
  dropped(text: string): void {
    if (this.#sheet === undefined || this.#sheetLength + text.length > MAX_SHEET) return
    this.#sheetLength += text.length
    this.#sheet.push(text)
  }

  /** @param letters length of a text without surrounding white space */
  text(letters: number): void {
    const { bold, italic, underlined, linked, size } = this.#open[this.#open.length - 1]?.style ?? PLAIN
    const look = this.#look
    if (look.area === undefined && this.#areas !== undefined) look.area = this.#area()
    look.letters += letters
    if (bold) look.bold += letters
    if (italic) look.italic += letters
    if (underlined && !linked) look.underlined += letters
    if (linked) look.linked += letters
    addSize(look, size, letters)
  }

  /** Returns the style of the text since the last call. */
  take(): Look {
    const look = this.#look
    this.#look = emptyLook()
    return look
  }

  /** Discards the style of the text since the last call. */
  forget(): void {
    if (this.#look.letters > 0) this.#look = emptyLook()
  }

  /** The area of the current text, linked to those around it. */
  #area(): PageArea {
    let known = this.#open.length - 1
    while (known >= 0 && this.#open[known]?.area === undefined) known--
    let area = this.#open[known]?.area ?? PAGE
    for (let at = known + 1; at < this.#open.length; at++) {
      const open = this.#open[at]
      if (open === undefined) break
      if (open.begins) area = { main: open.said.main, around: open.said.around, outer: area }
      open.area = area
    }
    return area
  }

  #endFrom(at: number): void {
    while (this.#open.length > at) this.#open.pop()
  }

  #endOpen(name: string, within: ReadonlySet<string>): void {
    for (let at = this.#open.length - 1; at >= Math.max(0, this.#open.length - LOOK_BACK); at--) {
      const open = this.#open[at]?.name ?? ''
      if (open === name) this.#endFrom(at)
      if (open === name || within.has(open)) return
    }
  }

  /** Exported pages give thousands of elements some hundred styles: each is parsed once while it is cached. */
  #styleOf(outer: Style, name: string, sets: boolean, attributes: Attributes): Style {
    const classes = this.#classes.size === 0 ? undefined : attributes.get('class')
    const own = attributes.get('style')
    if (classes === undefined && own === undefined && !sets) return outer
    if (sets && (name === 'a' || name === 'font')) return this.#readStyle(outer, name, attributes, classes)
    const place = (placeOf(own) + placeOf(classes) * 7 + (sets ? placeOf(name) : 0) + outer.place) & (KNOWN_STYLES - 1)
    this.#styles ??= new Array<undefined>(KNOWN_STYLES).fill(undefined)
    const known = this.#styles[place]
    if (
      known !== undefined &&
      known.outer === outer &&
      known.own === own &&
      known.classes === classes &&
      (known.name === name || !sets)
    )
      return known.style
    const style = this.#readStyle(outer, name, attributes, classes)
    this.#styles[place] = { outer, name: sets ? name : '', classes, own, style }
    return style
  }

  #readStyle(outer: Style, name: string, attributes: Attributes, classes: string | undefined): Style {
    const style = { ...outer }
    if (BOLD.has(name)) style.bold = true
    if (ITALIC.has(name)) style.italic = true
    if (name === 'u' || name === 'ins') style.underlined = true
    if (name === 'a' && attributes.has('href')) style.linked = true
    if (name === 'big') style.size = outer.size * 1.2
    if (name === 'small') style.size = outer.size / 1.2
    if (name === 'font') style.size = fontSize(attributes.get('size'), outer.size)
    for (const one of classes?.split(/\s+/, 20) ?? []) declare(style, this.#classes.get(one), outer.size)
    declare(style, attributes.get('style'), outer.size)
    if (same(style, outer)) return outer
    style.place = this.#stylesCount++ * 101
    return style
  }

  #readSheet(): void {
    const sheet = this.#sheet?.join('') ?? ''
    this.#sheet = undefined
    this.#styles = undefined
    for (const [, name = '', body = ''] of sheet.matchAll(/\.([\w-]{1,80})\s{0,20}\{([^{}]{0,2000})\}/g)) {
      if (this.#classes.size >= MAX_CLASSES) return
      if (/font|decoration/i.test(body)) this.#classes.set(name, `${this.#classes.get(name) ?? ''};${body}`)
    }
  }
}

/** A hash of a text from some of its characters. */
function placeOf(text: string | undefined): number {
  if (text === undefined) return 0
  const last = text.length - 1
  let place = last
  for (let at = 0; at <= 16; at++) place = (place * 31 + text.charCodeAt((last * at) >> 4)) & 0xffff
  return place
}

function same(one: Style, other: Style): boolean {
  return (
    one.bold === other.bold &&
    one.italic === other.italic &&
    one.underlined === other.underlined &&
    one.linked === other.linked &&
    one.size === other.size
  )
}

/** Declarations of style sheets that affect the style of letters. */
const DECLARATION = /(?<=^|;)\s*(font(?:-weight|-style|-size)?|text-decoration[\w-]*)\s*:([^;]*)/gi

/** Applies declarations of weight, slope, size and decoration (CSS, including the short form `font`). */
function declare(style: Style, css: string | undefined, outer: number): void {
  if (css === undefined) return
  for (const [, property = '', said = ''] of css.slice(0, 2000).matchAll(DECLARATION)) {
    const name = property.toLowerCase()
    const value = said.trim().toLowerCase()
    if (name === 'font-weight' || name === 'font') {
      if (/\b(?:bold|bolder|[6-9]00)\b/.test(value)) style.bold = true
      else if (name === 'font-weight' || /\b(?:normal|400)\b/.test(value)) style.bold = false
    }
    if (name === 'font-style' || name === 'font') {
      if (/\b(?:italic|oblique)\b/.test(value)) style.italic = true
      else if (name === 'font-style') style.italic = false
    }
    if (name === 'font-size' || name === 'font') style.size = lengthOf(value, outer) ?? style.size
    if (name.startsWith('text-decoration')) style.underlined = value.includes('underline')
  }
}

function lengthOf(value: string, outer: number): number | undefined {
  const found = /(?:^|\s)(\d{1,3}(?:\.\d{1,4})?)(pt|px|em|rem|%)/.exec(value)
  if (found === null) return undefined
  const number = Number(found[1])
  const unit = found[2]
  if (unit === 'pt') return number
  if (unit === 'px') return number * 0.75
  return unit === 'rem' ? number * 12 : (outer * number) / (unit === '%' ? 100 : 1)
}

function fontSize(said: string | undefined, outer: number): number {
  const number = Number(said)
  if (said === undefined || !Number.isFinite(number)) return outer
  const place = /^[+-]/.test(said.trim()) ? 3 + number : number
  return FONT_SIZES[Math.max(1, Math.min(7, Math.round(place))) - 1] ?? outer
}
