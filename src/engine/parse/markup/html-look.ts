import { emptyLook, type Look } from '../looks.js'
import type { Attributes } from './markup-events.js'
import { PAGE, type PageArea, PageAreas } from './page-areas.js'

interface Style {
  bold: boolean
  italic: boolean
  underlined: boolean
  linked: boolean
  /** in points */
  size: number
}

const PLAIN: Style = { bold: false, italic: false, underlined: false, linked: false, size: 12 }
const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Elements that end one of their kind that is still open, up to the container of both. */
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
/** Elements that set their text in a way of their own. */
const SETS = new Set([...BOLD, ...ITALIC, 'u', 'ins', 'a', 'big', 'small', 'font'])
/** Sizes of `<font size>` in points. */
const FONT_SIZES = [7.5, 10, 12, 13.5, 18, 24, 36]
/** Elements nest some tens deep; what is deeper looks as this depth does. */
const MAX_DEPTH = 200
const LOOK_BACK = 40
/** Style sheets are read up to this length and this many classes. */
const MAX_SHEET = 256 * 1024
const MAX_CLASSES = 5000
/** Ways of setting text that are remembered. */
const MAX_STYLES = 2000

/** Follows how text is set while the elements of a page go by. */
export class HtmlLook {
  readonly #open: { name: string; style: Style; area: PageArea }[] = []
  readonly #areas = new PageAreas()
  /** by the style around, then by what an element says */
  readonly #styles = new Map<Style, Map<string, Style>>()
  #stylesCount = 0
  readonly #classes = new Map<string, string>()
  #sheet: string[] | undefined
  #sheetLength = 0
  #look = emptyLook()

  open(name: string, attributes: Attributes): void {
    if (name === 'style') this.#sheet = []
    if (VOID.has(name)) return
    this.#endOpen(name)
    if (this.#open.length >= MAX_DEPTH) return
    const outer = this.#open[this.#open.length - 1]
    const style = this.#styleOf(outer?.style ?? PLAIN, name, attributes)
    this.#open.push({ name, style, area: this.#areas.opened(outer?.area ?? PAGE, name, attributes) })
  }

  close(name: string): void {
    if (name === 'style') this.#readSheet()
    for (let at = this.#open.length - 1; at >= Math.max(0, this.#open.length - LOOK_BACK); at--) {
      if (this.#open[at]?.name !== name) continue
      this.#open.length = at
      return
    }
  }

  /** Text that is not for readers: of style sheets it says how the rest looks. */
  dropped(text: string): void {
    if (this.#sheet === undefined || this.#sheetLength + text.length > MAX_SHEET) return
    this.#sheetLength += text.length
    this.#sheet.push(text)
  }

  text(text: string): void {
    // every text of a page comes by here: counting each letter would take a tenth of the time of all
    const letters = text.trim().length
    if (letters === 0) return
    const inner = this.#open[this.#open.length - 1]
    const { bold, italic, underlined, linked, size } = inner?.style ?? PLAIN
    const look = this.#look
    look.area ??= inner?.area ?? PAGE
    look.letters += letters
    if (bold) look.bold += letters
    if (italic) look.italic += letters
    if (underlined && !linked) look.underlined += letters
    if (linked) look.linked += letters
    look.sizes.set(size, (look.sizes.get(size) ?? 0) + letters)
  }

  /** How the text since the last call is set. */
  take(): Look {
    const look = this.#look
    this.#look = emptyLook()
    return look
  }

  #endOpen(name: string): void {
    const within = ENDS.get(name)
    if (within === undefined) return
    for (let at = this.#open.length - 1; at >= Math.max(0, this.#open.length - LOOK_BACK); at--) {
      const open = this.#open[at]?.name ?? ''
      if (open === name) this.#open.length = at
      if (open === name || within.has(open)) return
    }
  }

  /** Exported pages set thousands of elements in some ten ways: each way is read once. */
  #styleOf(outer: Style, name: string, attributes: Attributes): Style {
    const classes = this.#classes.size === 0 ? undefined : attributes.get('class')
    const own = attributes.get('style')
    const sets = SETS.has(name)
    if (classes === undefined && own === undefined && !sets) return outer
    if (sets && (name === 'a' || name === 'font')) return this.#readStyle(outer, name, attributes, classes)
    const key = `${sets ? name : ''} ${classes ?? ''};${own ?? ''}`
    let known = this.#styles.get(outer)
    const found = known?.get(key)
    if (found !== undefined) return found
    const style = this.#readStyle(outer, name, attributes, classes)
    if (this.#stylesCount++ >= MAX_STYLES) return style
    known ??= new Map()
    this.#styles.set(outer, known.set(key, style))
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
    return same(style, outer) ? outer : style
  }

  #readSheet(): void {
    const sheet = this.#sheet?.join('') ?? ''
    this.#sheet = undefined
    this.#styles.clear()
    for (const [, name = '', body = ''] of sheet.matchAll(/\.([\w-]{1,80})\s{0,20}\{([^{}]{0,2000})\}/g)) {
      if (this.#classes.size >= MAX_CLASSES) return
      if (/font|decoration/i.test(body)) this.#classes.set(name, `${this.#classes.get(name) ?? ''};${body}`)
    }
  }
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

/** Takes what a declaration says of weight, slope and size (CSS, `font` in short among it). */
function declare(style: Style, css: string | undefined, outer: number): void {
  if (css === undefined) return
  for (const declaration of css.slice(0, 2000).split(';')) {
    const colon = declaration.indexOf(':')
    const name = declaration.slice(0, colon).trim().toLowerCase()
    const value = declaration
      .slice(colon + 1)
      .trim()
      .toLowerCase()
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
