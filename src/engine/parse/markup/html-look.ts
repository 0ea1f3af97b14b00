import { emptyLook, type Look } from '../looks.js'
import type { Attributes } from './markup-events.js'

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
const ENDS: ReadonlyMap<string, string> = new Map([
  ['p', 'div td th li table ul ol section article'],
  ['li', 'ul ol table'],
  ['tr', 'table'],
  ['td', 'table'],
  ['th', 'table'],
])
const BOLD = new Set('b strong th h1 h2 h3 h4 h5 h6'.split(' '))
const ITALIC = new Set('i em cite dfn var address'.split(' '))
/** Sizes of `<font size>` in points. */
const FONT_SIZES = [7.5, 10, 12, 13.5, 18, 24, 36]
/** Elements nest some tens deep; what is deeper looks as this depth does. */
const MAX_DEPTH = 200
const LOOK_BACK = 40
/** Style sheets are read up to this length and this many classes. */
const MAX_SHEET = 256 * 1024
const MAX_CLASSES = 5000

/** Follows how text is set while the elements of a page go by. */
export class HtmlLook {
  readonly #open: { name: string; style: Style }[] = []
  readonly #classes = new Map<string, string>()
  #sheet: string[] | undefined
  #sheetLength = 0
  #look = emptyLook()

  open(name: string, attributes: Attributes): void {
    if (name === 'style') this.#sheet = []
    if (VOID.has(name)) return
    this.#endOpen(name)
    if (this.#open.length >= MAX_DEPTH) return
    this.#open.push({ name, style: this.#styleOf(name, attributes) })
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
    const letters = lettersIn(text)
    if (letters === 0) return
    const { bold, italic, underlined, linked, size } = this.#style
    const look = this.#look
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

  get #style(): Style {
    return this.#open[this.#open.length - 1]?.style ?? PLAIN
  }

  #endOpen(name: string): void {
    const within = ENDS.get(name)?.split(' ')
    if (within === undefined) return
    for (let at = this.#open.length - 1; at >= Math.max(0, this.#open.length - LOOK_BACK); at--) {
      const open = this.#open[at]?.name ?? ''
      if (open === name) this.#open.length = at
      if (open === name || within.includes(open)) return
    }
  }

  #styleOf(name: string, attributes: Attributes): Style {
    const outer = this.#style
    const style = { ...outer }
    if (BOLD.has(name)) style.bold = true
    if (ITALIC.has(name)) style.italic = true
    if (name === 'u' || name === 'ins') style.underlined = true
    if (name === 'a' && attributes.has('href')) style.linked = true
    if (name === 'big') style.size = outer.size * 1.2
    if (name === 'small') style.size = outer.size / 1.2
    if (name === 'font') style.size = fontSize(attributes.get('size'), outer.size)
    for (const one of attributes.get('class')?.split(/\s+/, 20) ?? [])
      declare(style, this.#classes.get(one), outer.size)
    declare(style, attributes.get('style'), outer.size)
    return style
  }

  #readSheet(): void {
    const sheet = this.#sheet?.join('') ?? ''
    this.#sheet = undefined
    for (const [, name = '', body = ''] of sheet.matchAll(/\.([\w-]{1,80})\s{0,20}\{([^{}]{0,2000})\}/g)) {
      if (this.#classes.size >= MAX_CLASSES) return
      if (/font|decoration/i.test(body)) this.#classes.set(name, `${this.#classes.get(name) ?? ''};${body}`)
    }
  }
}

/** Characters that are seen. Every text of a page comes by here: a pattern would take a tenth of the time of all. */
function lettersIn(text: string): number {
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x20 && code !== 0xa0 && code !== 0x3000) letters++
  }
  return letters
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
