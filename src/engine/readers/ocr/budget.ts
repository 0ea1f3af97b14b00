import type { OcrLanguages, OcrRequest, RecognisedPage } from '../../store/recognised-pages.js'
import { parsePages } from './pages.js'

/** OCR of a page is not started with less time left. */
const MIN_REMAINING_MS = 300
/** Factor of the extra budget for a document without text on any page yet. */
const EXTRA_BUDGET_FACTOR = 3
/** Processor time before publication; the other pages are recognised in the background after it. */
export const FIRST_BUDGET_MS = 10_000

export const DEFAULT_OCR: OcrRequest = { languages: { codes: ['eng'] }, budgetMs: FIRST_BUDGET_MS }

/** Tracks the pages of one document: known from earlier runs, recognised in this run, or pending. */
export class OcrBudget {
  readonly languages: OcrLanguages
  /** Pages recognised in this run. */
  readonly fresh: RecognisedPage[] = []
  /** Numbers of pages for which no time is left. */
  readonly waiting: number[] = []
  readonly #known: Map<number, RecognisedPage>
  readonly #endsAt: number
  readonly #extraMs: number
  /** Numbers of all pages that were requested. */
  readonly #requested = new Set<number>()
  #hasText: boolean

  /** @param hasText whether the document has text to publish without OCR */
  constructor({ languages, budgetMs, known = [] }: OcrRequest, { hasText = false } = {}) {
    this.languages = languages
    this.#known = new Map(parsePages(known).map((page) => [page.page, page]))
    this.#endsAt = getCpuMs() + budgetMs
    this.#extraMs = budgetMs * EXTRA_BUDGET_FACTOR
    this.#hasText = hasText || [...this.#known.values()].some(({ lines }) => lines.length > 0)
  }

  /** Whether a page was requested for OCR, in this run or a later one. */
  wasRequested(page: number): boolean {
    return this.#requested.has(page)
  }

  /**
   * Recognises a page, or returns undefined and queues it when no time is left. The first page is always recognised, so
   * that every run makes progress. While no page has text, the budget is larger, so that there is something to publish.
   */
  page(page: number, read: () => RecognisedPage): RecognisedPage | undefined {
    this.#requested.add(page)
    const known = this.#known.get(page)
    if (known !== undefined) return known
    const endsAt = this.#hasText ? this.#endsAt : this.#endsAt + this.#extraMs
    if (this.fresh.length > 0 && getCpuMs() + MIN_REMAINING_MS > endsAt) {
      this.waiting.push(page)
      return undefined
    }
    const recognised = read()
    this.fresh.push(recognised)
    if (recognised.lines.length > 0) this.#hasText = true
    return recognised
  }
}

/** Processor time of this process so far, in milliseconds. */
export function getCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
