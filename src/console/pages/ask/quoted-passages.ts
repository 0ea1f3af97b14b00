import type { AnswerQuotation } from '../../../contract/gateway/queries.js'

interface QuotedSection {
  /** offset of the block in the answer */
  start: number
  /** text of the answer before the first passage; '' for all others */
  opening: string
  /** number of the evidence item, from 1 */
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
    const addPart = (part: { start: number; end: number }, { isMarked }: { isMarked: boolean }): void => {
      if (part.end > part.start) parts.push({ start: part.start, text: text.slice(part.start, part.end), isMarked })
    }
    let position = start
    for (const mark of marks) {
      addPart({ start: position, end: mark.start }, { isMarked: false })
      addPart(mark, { isMarked: true })
      position = mark.end
    }
    addPart({ start: position, end }, { isMarked: false })
    return { start, opening: lines.join('\n').trim(), cited, location, parts }
  })
}
