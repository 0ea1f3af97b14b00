import type { getDocumentProxy } from 'unpdf'
import { isRecord } from '../../../lib/json/values.js'

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>

/** Style of a font's letters, derived from its name and flags. */
export interface FontLook {
  bold: boolean
  /** At least one of several pieces is bold. */
  someBold: boolean
  italic: boolean
  /** All letters have the same width, as in code. */
  mono: boolean
}

const PLAIN: FontLook = { bold: false, someBold: false, italic: false, mono: false }
/** Font names are available only after a page's drawing operators were read: maximal number of such pages. */
const MAX_PAGES = 40

/**
 * The styles of a document's fonts. For a page with a new font the drawing operators are read to get its name. Nothing
 * is drawn, and pictures are skipped (`maxImageSize`).
 */
export class PdfFonts {
  readonly #looks = new Map<string, FontLook>()
  #pages = 0

  /**
   * Loads the unknown fonts of a page. @param names font names in its text @param operators reads the drawing operators
   * of the page
   */
  async learn(page: Page, names: Iterable<string>, operators: () => Promise<unknown>): Promise<void> {
    const unknown = new Set([...names].filter((name) => !this.#looks.has(name)))
    if (unknown.size === 0 || this.#pages >= MAX_PAGES) return
    this.#pages++
    for (const name of unknown) this.#looks.set(name, PLAIN)
    try {
      await operators()
      // fonts arrive as separate messages after the operator list
      await new Promise((resolve) => setImmediate(resolve))
    } catch {
      // a page that cannot be drawn may still have text
      return
    }
    for (const name of unknown) this.#looks.set(name, detectLook(page, name))
  }

  lookOf(name: string): FontLook {
    return this.#looks.get(name) ?? PLAIN
  }
}

/** The style of two pieces of text together; a piece of unknown style is ignored. */
export function combineLooks(a: FontLook | undefined, b: FontLook | undefined): FontLook | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return {
    bold: a.bold && b.bold,
    someBold: a.someBold || b.someBold,
    italic: a.italic && b.italic,
    mono: a.mono && b.mono,
  }
}

/** A font of a page as pdf.js describes it, when it is known. */
export function readFont({ commonObjs }: Pick<Page, 'commonObjs'>, name: string): unknown {
  return commonObjs.has(name) ? commonObjs.get(name) : undefined
}

function detectLook(page: Page, name: string): FontLook {
  const font = readFont(page, name)
  if (!isRecord(font)) return PLAIN
  const fontName = typeof font.name === 'string' ? font.name.replace(/^[A-Z]{6}\+/, '') : ''
  const bold =
    font.bold === true || font.black === true || /bold|black|heavy|demi|medi(?:um)?\b|^CMBX|^SFBX/i.test(fontName)
  return {
    bold,
    someBold: bold,
    italic: font.italic === true || /ital|obli|^CMTI|^CMSL/i.test(fontName),
    mono: font.isMonospace === true || /mono|courier|consol|typewriter|^CMTT|menlo|code/i.test(fontName),
  }
}
