import type { AnswerQuotation } from '../../../contract/gateway/queries.js'

interface QuotedPassage {
  /** offset of the block in the answer */
  start: number
  /** text of the answer before the first passage; '' for all others */
  opening: string
  cited: number
  /** file name, section, page and date */
  location: string
  parts: { start: number; text: string; isMarked: boolean }[]
}

/** Splits an answer into its quoted passages; bracketed numbers inside a quotation stay text. */
export function splitQuotation(text: string, blocks: AnswerQuotation['blocks']): QuotedPassage[] {
  return blocks.map(({ cited, start, end, marks }, index) => {
    const lines = text
      .slice(blocks[index - 1]?.end ?? 0, start)
      .trim()
      .split('\n')
    const location = (lines.pop() ?? '').replace(`[${cited}] `, '')
    const parts: QuotedPassage['parts'] = []
    const add = (from: number, to: number, isMarked: boolean): void => {
      if (to > from) parts.push({ start: from, text: text.slice(from, to), isMarked })
    }
    let from = start
    for (const mark of marks) {
      add(from, mark.start, false)
      add(mark.start, mark.end, true)
      from = mark.end
    }
    add(from, end, false)
    return { start, opening: lines.join('\n').trim(), cited, location, parts }
  })
}
