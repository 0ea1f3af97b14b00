import { type Attributes, readMarkup } from '../markup/markup-events.js'

/** Formatting of a run; what is absent is inherited. */
export interface WordRunStyle {
  bold?: boolean
  italic?: boolean
  underlined?: boolean
  /** in points */
  size?: number
  font?: string
}

/** Number of a paragraph: the list and the level in it, from 0. */
export interface WordNumberReference {
  list: string
  level: number | undefined
}

export interface WordParagraphStyle {
  /** name in lower case, as it is stored in every language of the program */
  name: string
  /** level as a heading, outermost 1; 0 for text */
  headingLevel: number
  numbering: WordNumberReference | undefined
  /** of the style that sets the numbering: levels of lists belong to styles */
  numberingStyle: string
  run: WordRunStyle
}

interface StoredStyle {
  id: string
  name: string
  parent: string | undefined
  outlineLevel: number | undefined
  list: string | undefined
  listLevel: number | undefined
  run: WordRunStyle
}

/** Styles inherit from some others in a row. */
const MAX_ANCESTORS = 20
const BODY_OUTLINE_LEVEL = 9

/** The styles of a Word document (ISO/IEC 29500-1, 17.7). */
export class WordStyles {
  readonly #styles = new Map<string, StoredStyle>()
  readonly #paragraphs = new Map<string, WordParagraphStyle>()
  #defaultStyle: string | undefined
  #defaults: WordRunStyle = {}

  /** @param xml part with the styles; empty for a document without one */
  constructor(xml: string) {
    let style: StoredStyle | undefined
    let isDefaults = false
    const path: string[] = []
    const open = (name: string, attributes: Attributes): void => {
      const parent = path.at(-1)
      path.push(name)
      if (name === 'w:style') {
        const id = attributes.get('w:styleId') ?? ''
        style = {
          id,
          name: id,
          parent: undefined,
          outlineLevel: undefined,
          list: undefined,
          listLevel: undefined,
          run: {},
        }
        this.#styles.set(id, style)
        const isDefault = /^(?:1|true|on)$/.test(attributes.get('w:default') ?? '')
        if (isDefault && attributes.get('w:type') === 'paragraph') this.#defaultStyle = id
      } else if (name === 'w:rPrDefault') isDefaults = true
      const value = attributes.get('w:val')
      if (parent === 'w:rPr' && !path.includes('w:tblStylePr')) {
        if (style !== undefined) applyRunProperty(style.run, name, attributes)
        else if (isDefaults) applyRunProperty(this.#defaults, name, attributes)
      } else if (style === undefined || value === undefined) return
      else if (name === 'w:name' && parent === 'w:style') style.name = value
      else if (name === 'w:basedOn') style.parent = value
      else if (name === 'w:outlineLvl') style.outlineLevel = Number(value)
      else if (name === 'w:numId') style.list = value
      else if (name === 'w:ilvl') style.listLevel = Number(value)
    }
    const close = (name: string): void => {
      path.pop()
      if (name === 'w:style') style = undefined
      else if (name === 'w:rPrDefault') isDefaults = false
    }
    if (xml !== '') readMarkup(xml, { open, close, text: () => undefined }, 'xml')
  }

  /** A style with what it inherits. An unknown one, of a file without styles, is read by its id. */
  paragraph(id: string | undefined): WordParagraphStyle {
    const key = id ?? this.#defaultStyle ?? ''
    const cached = this.#paragraphs.get(key)
    if (cached !== undefined) return cached
    const chain = this.#chain(key)
    const name = normalizeName(this.#styles.get(key)?.name ?? id ?? '')
    const numbered = chain.find(({ list }) => list !== undefined)
    const style: WordParagraphStyle = {
      name,
      headingLevel: computeHeadingLevel(name, chain),
      numbering:
        numbered?.list === undefined
          ? undefined
          : { list: numbered.list, level: chain.find(({ listLevel }) => listLevel !== undefined)?.listLevel },
      numberingStyle: numbered?.id ?? key,
      run: Object.assign({}, this.#defaults, ...chain.map(({ run }) => run).reverse()),
    }
    this.#paragraphs.set(key, style)
    return style
  }

  /** Formatting by a character style. */
  run(id: string): WordRunStyle {
    return Object.assign(
      {},
      ...this.#chain(id)
        .map(({ run }) => run)
        .reverse(),
    )
  }

  #chain(id: string): StoredStyle[] {
    const chain: StoredStyle[] = []
    let style = this.#styles.get(id)
    while (style !== undefined && chain.length < MAX_ANCESTORS && !chain.includes(style)) {
      chain.push(style)
      style = style.parent === undefined ? undefined : this.#styles.get(style.parent)
    }
    return chain
  }
}

/** Applies one property of a run: a child of `w:rPr`. */
export function applyRunProperty(run: WordRunStyle, name: string, attributes: Attributes): void {
  if (name === 'w:b') run.bold = isOn(attributes)
  else if (name === 'w:i') run.italic = isOn(attributes)
  else if (name === 'w:u') run.underlined = attributes.get('w:val') !== 'none'
  else if (name === 'w:sz') {
    const halfPoints = Number(attributes.get('w:val'))
    if (halfPoints > 0) run.size = halfPoints / 2
  } else if (name === 'w:rFonts') {
    const font = attributes.get('w:ascii') ?? attributes.get('w:hAnsi')
    if (font !== undefined) run.font = font
  }
}

/** Whether a property without a value, or with one, is set. */
export function isOn(attributes: Attributes): boolean {
  return !/^(?:0|false|off)$/.test(attributes.get('w:val') ?? '1')
}

function normalizeName(name: string): string {
  return name.toLowerCase().replace(/\s+/g, ' ').trim()
}

function computeHeadingLevel(name: string, chain: readonly StoredStyle[]): number {
  if (name === 'title') return 1
  // a style without an outline level that is based on a heading, as that above a table of contents, is one, too
  for (const { outlineLevel = BODY_OUTLINE_LEVEL, name: inherited } of chain) {
    if (outlineLevel >= 0 && outlineLevel < BODY_OUTLINE_LEVEL) return outlineLevel + 1
    const level = /^heading ?([1-9])$/.exec(normalizeName(inherited))?.[1]
    if (level !== undefined) return Number(level)
  }
  const level = chain.length === 0 ? /^heading ?([1-9])$/.exec(name)?.[1] : undefined
  return Number(level ?? 0)
}
