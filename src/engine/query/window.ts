import type { EvidenceItem } from '../../contract/gateway/queries.js'
import { tokensAtMost } from '../models/tokens.js'
import { beginningOf } from '../models/window.js'
import type { SessionTurn } from '../rows/sessions.js'

/** Maximum fraction of the input tokens for earlier turns. */
const TURNS_SHARE = 0.25
/** Minimum tokens for the passages, however small the window is. */
const MIN_TOKENS = 200
/** Small models answer best from few passages: this many in a small window, one more for each `TOKENS_PER_PASSAGE`. */
const MIN_PASSAGES = 4
const SMALL_WINDOW = 4096
const TOKENS_PER_PASSAGE = 2048

/** A passage in a prompt. */
export interface GivenPassage {
  number: number
  /** file, section and day, one per line */
  header: string
  text: string
  /** only its beginning is in the prompt */
  isCut?: true
}

/** How much of the evidence the prompt contains. */
export interface Given {
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
export function fitPassages(items: readonly EvidenceItem[], tokens: number, contextTokens: number): GivenPassage[] {
  const given: GivenPassage[] = []
  const limit = MIN_PASSAGES + Math.max(0, Math.floor((contextTokens - SMALL_WINDOW) / TOKENS_PER_PASSAGE))
  let room = Math.max(MIN_TOKENS, tokens)
  for (const [index, passage] of distinctPassages(items).entries()) {
    if (index === limit) break
    const size = tokensAtMost(renderPassage(passage))
    if (size <= room) {
      given.push(passage)
      room -= size
      continue
    }
    const left = room - (size - tokensAtMost(passage.text))
    const text = beginningOf(passage.text, index === 0 ? Math.max(left, MIN_TOKENS / 2) : left, index === 0)
    if (text !== '') given.push({ ...passage, text, isCut: true })
    break
  }
  return given
}

/** Passages with the numbers of their items; only the first of equal ones. */
export function distinctPassages(items: readonly EvidenceItem[]): GivenPassage[] {
  const known = new Set<string>()
  return items.flatMap((item, index) => {
    const key = item.text.replace(/\s+/g, ' ').trim().toLowerCase()
    if (known.has(key)) return []
    known.add(key)
    return [{ number: index + 1, header: headerOf(item), text: withoutTags(item.text) }]
  })
}

/** Renders a passage between tags that its text cannot contain. */
export function renderPassage({ number, header, text, isCut }: GivenPassage): string {
  return `<source ${number}>\n${header === '' ? '' : `${header}\n\n`}${text}${isCut ? ' …' : ''}\n</source ${number}>`
}

function headerOf({ metadata, citations }: EvidenceItem): string {
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
    .map(({ name, value }) => `${name}: ${withoutTags(value.replace(/\s+/g, ' '))}`)
    .join('\n')
}

/** Escapes tags so that a text neither opens nor closes a source. */
export function withoutTags(text: string): string {
  return text.replace(/<(?=\s*\/?\s*source)/gi, '‹')
}

/** Selects the latest turns that fit, oldest first; a long one is cut. */
export function fitTurns(turns: readonly SessionTurn[], asked: number): SessionTurn[] {
  const fitting: SessionTurn[] = []
  let room = Math.floor(asked * TURNS_SHARE)
  // no turn uses more than a quarter
  const most = Math.floor(room / 4)
  for (const turn of turns.toReversed()) {
    const query = beginningOf(turn.query, most, true)
    const answer = beginningOf(turn.answer, most, true)
    room -= tokensAtMost(query) + tokensAtMost(answer)
    if (room < 0) break
    fitting.unshift({ query, answer })
  }
  return fitting
}
