import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import type { QuestionPart } from './comparison-parts.js'
import { findFigure } from './figures.js'

/** One field of a comparison's table. */
export interface ComparisonField {
  entity: string
  measure: string
  year?: string
  /** as the document writes it, with its mark `[n]`; absent when nothing was found */
  value?: string
}

/** Figure of a part, with the index of its passage. */
export interface ComparisonFigure {
  value: string
  quote: string
  /** index in the items, from 0 */
  place: number
}

/** Maximum passages of a section that are searched for its figure. */
const MAX_SEARCHED_ITEMS = 10
/** A field contains a figure; longer text belongs in its section. */
const MAX_FIGURE_CHARACTERS = 60

/**
 * Finds the figure that a part of a comparison asks for, in its best passages.
 *
 * @returns undefined for a part of another form, or when no passage has a figure of that measure (and year)
 */
export function findComparisonFigure(
  { measure, year }: QuestionPart,
  items: readonly EvidenceItem[],
): ComparisonFigure | undefined {
  if (measure === undefined) return undefined
  for (const [index, { text }] of items.slice(0, MAX_SEARCHED_ITEMS).entries()) {
    const found = findFigure(text, measure, year)
    if (found !== undefined && found.value.length <= MAX_FIGURE_CHARACTERS) return { ...found, place: index }
  }
  return undefined
}

/**
 * Formats the table of a comparison: a row for each name, a column for each measure and year.
 *
 * @returns undefined with fewer than two fields, or when nothing was found
 */
export function formatComparisonTable(fields: readonly ComparisonField[]): string | undefined {
  if (fields.length < 2 || fields.every(({ value }) => value === undefined)) return undefined
  const formatColumn = ({ measure, year }: ComparisonField): string =>
    year === undefined ? measure : `${measure}, ${year}`
  const columns = [...new Set(fields.map(formatColumn))]
  const rows = [...new Set(fields.map(({ entity }) => entity))].map((entity) => {
    const cells = columns.map((column) => {
      const field = fields.find((one) => one.entity === entity && formatColumn(one) === column)
      return field === undefined ? '' : (field.value ?? 'not found')
    })
    return [entity, ...cells]
  })
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`
  return [line(['', ...columns]), `|${' --- |'.repeat(columns.length + 1)}`, ...rows.map(line)].join('\n')
}

function escapeCell(cell: string): string {
  return cell.replace(/\s+/g, ' ').replaceAll('|', '\\|')
}
