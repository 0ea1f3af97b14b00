import { addSize, type BlockStyle, createBlockStyle } from '../block-styles.js'
import type { Attributes } from './markup-events.js'
import { OpenElements, VOID_ELEMENTS } from './open-elements.js'
import { PAGE, type PageArea, PageAreaClassifier } from './page-areas.js'

interface TextStyle {
  bold: boolean
  italic: boolean
  underlined: boolean
  linked: boolean
  /** in points */
  size: number
  /** hash of the style */
  hash: number
}

const PLAIN: TextStyle = { bold: false, italic: false, underlined: false, linked: false, size: 12, hash: 0 }
const BOLD = new Set('b strong th h1 h2 h3 h4 h5 h6'.split(' '))
const ITALIC = new Set('i em cite dfn var address'.split(' '))
/** Elements that change the style of their text. */
const STYLING_ELEMENTS = new Set([...BOLD, ...ITALIC, 'u', 'ins', 'a', 'big', 'small', 'font'])
/** Sizes of `<font size>` in points. */
const FONT_SIZES = [7.5, 10, 12, 13.5, 18, 24, 36]
/** Maximum length of style sheets, and maximum number of classes. */
const MAX_SHEET_LENGTH = 256 * 1024
const MAX_CLASSES = 5000
/** Number of cached styles: a power of two. */
const STYLE_CACHE_SIZE = 1024

/** An open element. */
interface OpenElement {
  name: string
  style: TextStyle
  /** traits of its area, and whether the area starts with it */
  areaTraits: PageArea
  startsArea: boolean
  /** created with the first text: most elements contain no text of their own */
  area: PageArea | undefined
}

interface CachedStyle {
  outer: TextStyle
  name: string
  classes: string | undefined
  css: string | undefined
  style: TextStyle
}

/** Tracks the style of text while the elements of a page are read. */
export class HtmlStyleTracker {
  readonly #open = new OpenElements<OpenElement>()
  readonly #areas: PageAreaClassifier | undefined
  #styles: (CachedStyle | undefined)[] | undefined
  #stylesCount = 1
  readonly #classes = new Map<string, string>()
  #sheet: string[] | undefined
  #sheetLength = 0
  #style = createBlockStyle()

  /** @param options `withAreas`: the areas of the page are needed */
  constructor({ withAreas }: { withAreas: boolean }) {
    this.#areas = withAreas ? new PageAreaClassifier() : undefined
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'style') this.#sheet = []
    if (VOID_ELEMENTS.has(name)) return
    this.#open.closeImplied(name)
    if (this.#open.isFull) return
    const outer = this.#open.top
    const style = this.#resolveStyle(outer?.style ?? PLAIN, name, attributes)
    const outerTraits = outer?.areaTraits ?? PAGE
    const traits = this.#areas?.classify(outerTraits, name, attributes)
    this.#open.push({
      name,
      style,
      areaTraits: traits ?? outerTraits,
      startsArea: traits !== undefined,
      area: undefined,
    })
  }

  close(name: string): void {
    if (name === 'style') this.#readSheet()
    this.#open.close(name)
  }

  /** Adds text that is not for readers: style sheets determine the style of the rest. */
  addDroppedText(text: string): void {
    if (this.#sheet === undefined || this.#sheetLength + text.length > MAX_SHEET_LENGTH) return
    this.#sheetLength += text.length
    this.#sheet.push(text)
  }

  /** @param letters length of a text without surrounding white space */
  text(letters: number): void {
    const { bold, italic, underlined, linked, size } = this.#open.top?.style ?? PLAIN
    const style = this.#style
    if (style.area === undefined && this.#areas !== undefined) style.area = this.#findArea()
    style.letters += letters
    if (bold) style.bold += letters
    if (italic) style.italic += letters
    if (underlined && !linked) style.underlined += letters
    if (linked) style.linked += letters
    addSize(style, size, letters)
  }

  /** Returns the style of the text since the last call. */
  takeStyle(): BlockStyle {
    const style = this.#style
    this.#style = createBlockStyle()
    return style
  }

  /** Discards the style of the text since the last call. */
  discardStyle(): void {
    if (this.#style.letters > 0) this.#style = createBlockStyle()
  }

  /** The area of the current text, linked to those around it. */
  #findArea(): PageArea {
    let cached = this.#open.length - 1
    while (cached >= 0 && this.#open.at(cached)?.area === undefined) cached--
    let area = this.#open.at(cached)?.area ?? PAGE
    for (let index = cached + 1; index < this.#open.length; index++) {
      const open = this.#open.at(index)
      if (open === undefined) break
      if (open.startsArea)
        area = { isMain: open.areaTraits.isMain, isBoilerplate: open.areaTraits.isBoilerplate, outer: area }
      open.area = area
    }
    return area
  }

  /** Exported pages give thousands of elements some hundred styles: each is parsed once while it is cached. */
  #resolveStyle(outer: TextStyle, name: string, attributes: Attributes): TextStyle {
    const hasStyle = STYLING_ELEMENTS.has(name)
    const classes = this.#classes.size === 0 ? undefined : attributes.get('class')
    const css = attributes.get('style')
    if (classes === undefined && css === undefined && !hasStyle) return outer
    if (hasStyle && (name === 'a' || name === 'font')) return this.#readStyle(outer, name, attributes, classes)
    const hash =
      (hashText(css) + hashText(classes) * 7 + (hasStyle ? hashText(name) : 0) + outer.hash) & (STYLE_CACHE_SIZE - 1)
    this.#styles ??= new Array<undefined>(STYLE_CACHE_SIZE).fill(undefined)
    const cached = this.#styles[hash]
    if (
      cached !== undefined &&
      cached.outer === outer &&
      cached.css === css &&
      cached.classes === classes &&
      (cached.name === name || !hasStyle)
    )
      return cached.style
    const style = this.#readStyle(outer, name, attributes, classes)
    this.#styles[hash] = { outer, name: hasStyle ? name : '', classes, css, style }
    return style
  }

  #readStyle(outer: TextStyle, name: string, attributes: Attributes, classes: string | undefined): TextStyle {
    const style = { ...outer }
    if (BOLD.has(name)) style.bold = true
    if (ITALIC.has(name)) style.italic = true
    if (name === 'u' || name === 'ins') style.underlined = true
    if (name === 'a' && attributes.has('href')) style.linked = true
    if (name === 'big') style.size = outer.size * 1.2
    if (name === 'small') style.size = outer.size / 1.2
    if (name === 'font') style.size = parseFontSize(attributes.get('size'), outer.size)
    for (const className of classes?.split(/\s+/, 20) ?? [])
      applyDeclarations(style, this.#classes.get(className), outer.size)
    applyDeclarations(style, attributes.get('style'), outer.size)
    if (isSameStyle(style, outer)) return outer
    style.hash = this.#stylesCount++ * 101
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
function hashText(text: string | undefined): number {
  if (text === undefined) return 0
  const last = text.length - 1
  let hash = last
  for (let index = 0; index <= 16; index++) hash = (hash * 31 + text.charCodeAt((last * index) >> 4)) & 0xffff
  return hash
}

function isSameStyle(style: TextStyle, other: TextStyle): boolean {
  return (
    style.bold === other.bold &&
    style.italic === other.italic &&
    style.underlined === other.underlined &&
    style.linked === other.linked &&
    style.size === other.size
  )
}

/** Declarations of style sheets that affect the style of letters. */
const DECLARATION = /(?<=^|;)\s*(font(?:-weight|-style|-size)?|text-decoration[\w-]*)\s*:([^;]*)/gi

/** Applies declarations of weight, slope, size and decoration (CSS, including the short form `font`). */
function applyDeclarations(style: TextStyle, css: string | undefined, outer: number): void {
  if (css === undefined) return
  for (const [, property = '', rawValue = ''] of css.slice(0, 2000).matchAll(DECLARATION)) {
    const name = property.toLowerCase()
    const value = rawValue.trim().toLowerCase()
    if (name === 'font-weight' || name === 'font') {
      if (/\b(?:bold|bolder|[6-9]00)\b/.test(value)) style.bold = true
      else if (name === 'font-weight' || /\b(?:normal|400)\b/.test(value)) style.bold = false
    }
    if (name === 'font-style' || name === 'font') {
      if (/\b(?:italic|oblique)\b/.test(value)) style.italic = true
      else if (name === 'font-style') style.italic = false
    }
    if (name === 'font-size' || name === 'font') style.size = parseFontLength(value, outer) ?? style.size
    if (name.startsWith('text-decoration')) style.underlined = value.includes('underline')
  }
}

function parseFontLength(value: string, outer: number): number | undefined {
  const match = /(?:^|\s)(\d{1,3}(?:\.\d{1,4})?)(pt|px|em|rem|%)/.exec(value)
  if (match === null) return undefined
  const number = Number(match[1])
  const unit = match[2]
  if (unit === 'pt') return number
  if (unit === 'px') return number * 0.75
  return unit === 'rem' ? number * 12 : (outer * number) / (unit === '%' ? 100 : 1)
}

function parseFontSize(sizeText: string | undefined, outer: number): number {
  const number = Number(sizeText)
  if (sizeText === undefined || !Number.isFinite(number)) return outer
  const level = /^[+-]/.test(sizeText.trim()) ? 3 + number : number
  return FONT_SIZES[Math.max(1, Math.min(7, Math.round(level))) - 1] ?? outer
}
