import { addSize, type BlockStyle, createBlockStyle } from '../block-styles.js'
import type { Block } from '../parsed.js'
import type { WordNumberReference, WordParagraphStyle, WordRunStyle } from './word-styles.js'

/** Size of a run without one, in points. */
const DEFAULT_SIZE = 10
/** A heading that is longer than this (in characters) is a paragraph with an outline level. */
const MAX_HEADING_LENGTH = 400
const MONOSPACED = /mono|courier|consol|menlo|lucida console|fixed|source code|fira code|typewriter/i
/** Styles that word processors and converters use for code. */
const CODE_STYLE =
  /^(?:html preformatted|preformatted text|source ?code|code(?: ?block| listing)?|listing|program listing|verbatim)$/
/** Styles without a meaning. */
const PLAIN_STYLE = /^(?:normal(?: \(web\))?|body text|no spacing|default|standard|text body|)$/

/** A paragraph of a Word document while it is read. */
export class WordParagraph {
  readonly letters: BlockStyle = createBlockStyle()
  /** blocks before and after it: pictures, notes, text boxes */
  readonly before: Block[] = []
  readonly after: Block[] = []
  /** its formulas in LaTeX */
  readonly formulas: string[] = []
  style: WordParagraphStyle
  /** own number, which replaces that of the style */
  numbering: { list?: string; level?: number } = {}
  outlineLevel: number | undefined
  /** Whether its end is deleted, so that the next paragraph continues it. */
  isMarkDeleted = false
  #text = ''
  #monospaced = 0

  constructor(style: WordParagraphStyle) {
    this.style = style
  }

  /** Continues with the next paragraph, whose properties count. */
  reset(style: WordParagraphStyle): void {
    this.style = style
    this.numbering = {}
    this.outlineLevel = undefined
  }

  get isBlank(): boolean {
    return this.#text.trim() === ''
  }

  /** Adds text of a run; `\t` and `\n` are tabs and line breaks. */
  add(text: string, run: WordRunStyle, isLinked: boolean): void {
    this.#text += text
    const letters = text.trim().length
    if (letters === 0) return
    const style = this.letters
    style.letters += letters
    if (run.bold === true) style.bold += letters
    if (run.italic === true) style.italic += letters
    if (run.underlined === true && !isLinked) style.underlined += letters
    if (isLinked) style.linked += letters
    addSize(style, run.size ?? DEFAULT_SIZE, letters)
    if (run.font !== undefined && MONOSPACED.test(run.font)) this.#monospaced += letters
  }

  /** Whether all of its letters are in a font of equal widths, and no style gives it another meaning. */
  get isTyped(): boolean {
    return PLAIN_STYLE.test(this.style.name) && this.letters.letters > 0 && this.#monospaced === this.letters.letters
  }

  get isCode(): boolean {
    return CODE_STYLE.test(this.style.name)
  }

  /** The text with its spaces and tabs. */
  get rawText(): string {
    return this.#text
  }

  /** The text by paragraphs: two line breaks in a row end one. */
  get texts(): string[] {
    return this.#text
      .replace(/[^\S\n\u00a0]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .split(/\n{2,}/)
      .map((text) => text.trim())
      .filter((text) => text !== '')
  }

  /** Its level as a heading, outermost 1; 0 for text. */
  get headingLevel(): number {
    const level = this.outlineLevel === undefined ? this.style.headingLevel : this.outlineLevel + 1
    return level > 9 || this.#text.length > MAX_HEADING_LENGTH ? 0 : level
  }

  /** The list and level of its number; undefined without one. */
  get number(): WordNumberReference | undefined {
    const list = this.numbering.list ?? this.style.numbering?.list
    if (list === undefined || list === '0') return undefined
    const ownLevel = this.numbering.level ?? (this.numbering.list === undefined ? this.style.numbering?.level : 0)
    return { list, level: ownLevel }
  }
}
