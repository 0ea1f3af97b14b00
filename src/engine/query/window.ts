import type { EvidenceItem } from '../../contract/gateway/queries.js'
import { tokensAtMost } from '../models/tokens.js'
import { beginningOf } from '../models/window.js'
import type { SessionTurn } from '../rows/sessions.js'

/** The most that earlier turns take of a window. */
const TURNS_SHARE = 0.25
/** A model that is asked gets this much of a passage however little room there is. */
const LEAST_TOKENS = 200

/** A passage as a model is given it. */
export interface GivenPassage {
  number: number
  title: unknown
  /** title and file of its document, where they say more than the passage's own title */
  document?: string
  file?: string
  text: string
  /** only its beginning stands here */
  isCut?: true
}

/** What of the evidence a model is given. */
export interface Given {
  contextTokens: number
  passages: number
  /** of these, those of which only a beginning is given */
  cut: number
  leftOut: number
}

/** Passages in the order of their rank, as many as fit; the last one may be cut at the end of a sentence. */
export function fitPassages(items: readonly EvidenceItem[], tokens: number): GivenPassage[] {
  const given: GivenPassage[] = []
  let room = Math.max(LEAST_TOKENS, tokens)
  for (const [place, item] of items.entries()) {
    const passage = passageOf(item, place + 1)
    const size = tokensAtMost(JSON.stringify(passage))
    if (size <= room) {
      given.push(passage)
      room -= size
      continue
    }
    const left = room - (size - tokensAtMost(JSON.stringify(passage.text)))
    const text = beginningOf(passage.text, place === 0 ? Math.max(left, LEAST_TOKENS / 2) : left, place === 0)
    if (text !== '') given.push({ ...passage, text, isCut: true })
    break
  }
  return given
}

function passageOf({ metadata: { title, documentTitle, filename }, text }: EvidenceItem, number: number): GivenPassage {
  const document = typeof documentTitle === 'string' && documentTitle !== title ? documentTitle : ''
  const file = typeof filename === 'string' && filename !== title && filename !== document ? filename : ''
  return {
    number,
    title,
    ...(document === '' ? {} : { document }),
    ...(file === '' ? {} : { file }),
    text,
  }
}

/** The latest turns that fit, oldest first; a long one is cut. */
export function fitTurns(turns: readonly SessionTurn[], asked: number): SessionTurn[] {
  const fitting: SessionTurn[] = []
  let room = Math.floor(asked * TURNS_SHARE)
  // one turn leaves room for another
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
