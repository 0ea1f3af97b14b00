import { splitSentences } from '../../../lib/text/sentences.js'
import { CELL_SEPARATOR, splitCells } from '../../../lib/text/table-lines.js'

/** A part of a passage that states something: a sentence, a labelled value, or a cell with its headers. */
export interface PassageUnit {
  /** sentence, or value of the label */
  text: string
  /** label of the value: of a list entry, or the headers of a cell */
  label: string | undefined
  /** text that is quoted for it */
  quote: string
  /** previous sentence, to which its pronouns refer */
  before: string
}

/** `Bin collection: Tuesday`, with list marks and emphasis; also columns separated by spaces. */
const LABELLED =
  /^[\s>]*(?:[-*•‣–]\s+|\d{1,3}[.)]\s+)?[*_]{0,2}(?<label>[^:：|*_\n]{2,60}?)[*_]{0,2}\s?(?:[:：]|\s{3,}|\t+)[*_]{0,2}\s+(?<value>\S.*)$/u
const MAX_LABEL_WORDS = 7
/** A longer value is a sentence, and its label a heading. */
const MAX_VALUE_WORDS = 12
const RULE = /^[\s|:+-]+$/u
const QUESTION = /[?？]["'”’)]*\s*$/u

/** Splits a passage into units, in order. Questions state nothing and are dropped. */
export function splitPassage(text: string): PassageUnit[] {
  const units: PassageUnit[] = []
  let prose: string[] = []
  let heads: string[] | undefined
  const flush = (): void => {
    const joined = prose.join('\n')
    prose = []
    let before = ''
    for (const { start, end } of splitSentences(joined)) {
      const sentence = joined.slice(start, end)
      if (!QUESTION.test(sentence)) units.push({ text: sentence, label: undefined, quote: sentence, before })
      before = sentence
    }
  }
  for (const line of text.split('\n')) {
    if (line.includes(CELL_SEPARATOR) || /^\s*\|.*\|\s*$/u.test(line)) {
      flush()
      const cells = splitCells(line.replace(/^\s*\||\|\s*$/gu, ''))
      if (RULE.test(line)) continue
      if (heads === undefined) heads = cells
      else units.push(...buildRowUnits(heads, cells, line))
      continue
    }
    heads = undefined
    const { label, value } = LABELLED.exec(line)?.groups ?? {}
    if (
      label !== undefined &&
      value !== undefined &&
      countWords(label) <= MAX_LABEL_WORDS &&
      countWords(value) <= MAX_VALUE_WORDS &&
      !/[.!?]\s/u.test(label)
    ) {
      flush()
      units.push({ text: value, label, quote: line.trim(), before: '' })
    } else prose.push(line)
  }
  flush()
  return units
}

/** A cell is labelled by the first cell of its row and the header of its column. */
function buildRowUnits(heads: readonly string[], cells: readonly string[], line: string): PassageUnit[] {
  const [row = ''] = cells
  return cells.slice(1).flatMap((cell, index) => {
    const head = heads[index + 1] ?? ''
    return cell === '' || row === ''
      ? []
      : [{ text: cell, label: `${row} ${head}`.trim(), quote: formatRow(heads, cells, line), before: '' }]
  })
}

function formatRow(heads: readonly string[], cells: readonly string[], line: string): string {
  const named = cells.flatMap((cell, index) => (cell === '' ? [] : [`${heads[index] ?? ''}: ${cell}`]))
  return heads.length === cells.length ? named.join('; ') : line.trim()
}

function countWords(text: string): number {
  return text.trim().split(/\s+/u).length
}
