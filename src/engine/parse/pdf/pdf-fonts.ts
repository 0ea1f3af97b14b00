import type { getDocumentProxy } from 'unpdf'
import { isRecord } from '../../../lib/json/values.js'

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>

/** What the name of a font says of its letters. */
export interface FontLook {
  bold: boolean
  /** some of several pieces are bold */
  someBold: boolean
  italic: boolean
  /** all letters as wide as each other, as in code */
  mono: boolean
}

const PLAIN: FontLook = { bold: false, someBold: false, italic: false, mono: false }
/** Names of fonts are known only once a page was gone through as if to draw it: so many pages at most. */
const MAX_PAGES = 40

/**
 * The looks of a document's fonts. A page with a font that none before it had is gone through for their names; nothing is
 * drawn, and pictures are passed over (`maxImageSize`).
 */
export class PdfFonts {
  readonly #looks = new Map<string, FontLook>()
  #pages = 0

  /** Learns the fonts of a page. @param names as its text has them @param operators goes through the page */
  async learn(page: Page, names: Iterable<string>, operators: () => Promise<unknown>): Promise<void> {
    const unknown = new Set([...names].filter((name) => !this.#looks.has(name)))
    if (unknown.size === 0 || this.#pages >= MAX_PAGES) return
    this.#pages++
    for (const name of unknown) this.#looks.set(name, PLAIN)
    try {
      await operators()
      // fonts arrive as messages of their own, behind the list
      await new Promise((resolve) => setImmediate(resolve))
    } catch {
      // a page that cannot be drawn may have text all the same
      return
    }
    for (const name of unknown) this.#looks.set(name, lookOf(page, name))
  }

  lookOf(name: string): FontLook {
    return this.#looks.get(name) ?? PLAIN
  }
}

/** What two pieces of text have in common; a piece that nothing is known of says nothing. */
export function bothLooks(a: FontLook | undefined, b: FontLook | undefined): FontLook | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return {
    bold: a.bold && b.bold,
    someBold: a.someBold || b.someBold,
    italic: a.italic && b.italic,
    mono: a.mono && b.mono,
  }
}

function lookOf({ commonObjs }: Page, name: string): FontLook {
  const font: unknown = commonObjs.has(name) ? commonObjs.get(name) : undefined
  if (!isRecord(font)) return PLAIN
  const called = typeof font.name === 'string' ? font.name.replace(/^[A-Z]{6}\+/, '') : ''
  const bold =
    font.bold === true || font.black === true || /bold|black|heavy|demi|medi(?:um)?\b|^CMBX|^SFBX/i.test(called)
  return {
    bold,
    someBold: bold,
    italic: font.italic === true || /ital|obli|^CMTI|^CMSL/i.test(called),
    mono: font.isMonospace === true || /mono|courier|consol|typewriter|^CMTT|menlo|code/i.test(called),
  }
}
