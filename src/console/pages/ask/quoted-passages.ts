import type { AnswerQuotation } from '../../../contract/gateway/queries.js'

interface QuotedSection {
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
export function splitQuotation(text: string, blocks: AnswerQuotation['blocks']): QuotedSection[] {
  return blocks.map(({ cited, start, end, marks }, index) => {
    const lines = text
      .slice(blocks[index - 1]?.end ?? 0, start)
      .trim()
      .split('\n')
    const location = (lines.pop() ?? '').replace(`[${cited}] `, '')
    const parts: QuotedSection['parts'] = []
    const add = (position: number, partEnd: number, isMarked: boolean): void => {
      if (partEnd > position) parts.push({ start: position, text: text.slice(position, partEnd), isMarked })
    }
    let position = start
    for (const mark of marks) {
      add(position, mark.start, false)
      add(mark.start, mark.end, true)
      position = mark.end
    }
    add(position, end, false)
    return { start, opening: lines.join('\n').trim(), cited, location, parts }
  })
}
