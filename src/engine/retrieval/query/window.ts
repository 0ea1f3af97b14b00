import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import { estimateMaxTokens, truncateEnd, truncateToSentences } from '../../models/index.js'
import type { SessionTurn } from '../../store/rows/sessions.js'

/** Maximum fraction of the input tokens for earlier turns. */
const MAX_TURNS_FRACTION = 0.25
/** Minimum tokens for the passages, however small the window is. */
const MIN_PASSAGE_TOKENS = 200
/** Small models answer best from few passages: this many in a small window, one more for each `TOKENS_PER_PASSAGE`. */
const MIN_PASSAGES = 4
const SMALL_WINDOW_TOKENS = 4096
const TOKENS_PER_PASSAGE = 2048

/** A passage in a prompt. */
export interface PromptPassage {
  number: number
  /** file, section and day, one per line */
  header: string
  text: string
  /** only its beginning is in the prompt */
  isCut?: true
}

/** How much of the evidence the prompt contains. */
export interface PromptPassageCounts {
  contextTokens: number
  passages: number
  /** passages of which only the beginning is in the prompt */
  cut: number
  leftOut: number
}

/**
 * Selects the passages that fit, in rank order, equal ones once; the last one may be cut after a sentence.
 *
 * @param tokens capacity for the passages in a window of `contextTokens`
 */
export function fitPassages(items: readonly EvidenceItem[], tokens: number, contextTokens: number): PromptPassage[] {
  const given: PromptPassage[] = []
  const limit = MIN_PASSAGES + Math.max(0, Math.floor((contextTokens - SMALL_WINDOW_TOKENS) / TOKENS_PER_PASSAGE))
  let remaining = Math.max(MIN_PASSAGE_TOKENS, tokens)
  for (const [index, passage] of listDistinctPassages(items).entries()) {
    if (index === limit) break
    const size = estimateMaxTokens(renderPassage(passage))
    if (size <= remaining) {
      given.push(passage)
      remaining -= size
      continue
    }
    const available = remaining - (size - estimateMaxTokens(passage.text))
    const text =
      index === 0
        ? truncateEnd(passage.text, Math.max(available, MIN_PASSAGE_TOKENS / 2))
        : truncateToSentences(passage.text, available)
    if (text !== '') given.push({ ...passage, text, isCut: true })
    break
  }
  return given
}

/** Passages with the numbers of their items; only the first of equal ones. */
export function listDistinctPassages(items: readonly EvidenceItem[]): PromptPassage[] {
  const known = new Set<string>()
  return items.flatMap((item, index) => {
    const key = item.text.replace(/\s+/g, ' ').trim().toLowerCase()
    if (known.has(key)) return []
    known.add(key)
    return [{ number: index + 1, header: formatHeader(item), text: escapeTags(item.text) }]
  })
}

/** Renders a passage between tags that its text cannot contain. */
export function renderPassage({ number, header, text, isCut }: PromptPassage): string {
  return `<source ${number}>\n${header === '' ? '' : `${header}\n\n`}${text}${isCut ? ' …' : ''}\n</source ${number}>`
}

function formatHeader({ metadata, citations }: EvidenceItem): string {
  const { title, documentTitle, filename, documentDate } = metadata
  const section = citations[0]?.sectionPath.join(' > ') ?? ''
  const lines = [
    ['File', filename],
    ['Document', documentTitle],
    ['Section', section === '' ? title : section],
    ['Date', typeof documentDate === 'string' ? documentDate.slice(0, 'yyyy-mm-dd'.length) : ''],
  ].flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [{ name, value }] : []))
  return lines
    .filter(({ value }, index) => lines.findIndex((line) => line.value === value) === index)
    .map(({ name, value }) => `${name}: ${escapeTags(value.replace(/\s+/g, ' '))}`)
    .join('\n')
}

/** Escapes tags so that a text neither opens nor closes a source. */
export function escapeTags(text: string): string {
  return text.replace(/<(?=\s*\/?\s*source)/gi, '‹')
}

/** Selects the latest turns that fit, oldest first; a long one is cut. */
export function fitTurns(turns: readonly SessionTurn[], inputTokens: number): SessionTurn[] {
  const fitting: SessionTurn[] = []
  let remaining = Math.floor(inputTokens * MAX_TURNS_FRACTION)
  // no turn uses more than a quarter
  const maxTurnTokens = Math.floor(remaining / 4)
  for (const turn of turns.toReversed()) {
    const query = truncateEnd(turn.query, maxTurnTokens)
    const answer = truncateEnd(turn.answer, maxTurnTokens)
    remaining -= estimateMaxTokens(query) + estimateMaxTokens(answer)
    if (remaining < 0) break
    fitting.unshift({ query, answer })
  }
  return fitting
}
