import { parsePages } from './pages.js'
import type { OcrLanguages, OcrRequest, RecognisedPage } from './pages-read.js'

/** Reading of one page is not begun with less than this left. */
const WORTH_MS = 300
/** times the budget, for a document of which no page had text yet */
const MORE_WITHOUT_TEXT = 3
/** so much at first; the rest is read behind the publication */
export const FIRST_BUDGET_MS = 10_000

export const DEFAULT_OCR: OcrRequest = { languages: { codes: ['eng'] }, budgetMs: FIRST_BUDGET_MS }

/** Keeps account of the pages of one document: which are known, which were read now, which have to wait. */
export class OcrBudget {
  readonly languages: OcrLanguages
  /** read now */
  readonly fresh: RecognisedPage[] = []
  /** numbers of pages for which no time is left */
  readonly waiting: number[] = []
  readonly #known: Map<number, RecognisedPage>
  readonly #endsAt: number
  readonly #extraMs: number
  /** numbers that were asked for */
  readonly #asked = new Set<number>()
  #hasText: boolean

  /** @param hasText whether there is something to publish without */
  constructor({ languages, budgetMs, known = [] }: OcrRequest, { hasText = false } = {}) {
    this.languages = languages
    this.#known = new Map(parsePages(known).map((page) => [page.page, page]))
    this.#endsAt = cpuMs() + budgetMs
    this.#extraMs = budgetMs * MORE_WITHOUT_TEXT
    this.#hasText = hasText || [...this.#known.values()].some(({ lines }) => lines.length > 0)
  }

  /** Whether a page is one that is read as a picture, now or later. */
  wasAsked(page: number): boolean {
    return this.#asked.has(page)
  }

  /**
   * Reads a page, or says that it has to wait. The first one is always read, so that every reading gets further; and as
   * long as none had text, more time is taken, so that there is something to publish.
   */
  page(page: number, read: () => RecognisedPage): RecognisedPage | undefined {
    this.#asked.add(page)
    const known = this.#known.get(page)
    if (known !== undefined) return known
    const endsAt = this.#hasText ? this.#endsAt : this.#endsAt + this.#extraMs
    if (this.fresh.length > 0 && cpuMs() + WORTH_MS > endsAt) {
      this.waiting.push(page)
      return undefined
    }
    const made = read()
    this.fresh.push(made)
    if (made.lines.length > 0) this.#hasText = true
    return made
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
