import { collapseSpaces } from '../elements.js'
import type { Block } from '../parsed.js'
import { buildTableBlocks } from '../tables.js'

/** The content of a chart, independent of the format. */
export interface ChartContent {
  title: string
  axes: readonly string[]
  /** `bar`, `line`; `chart` when unknown. */
  kind: string
  /** Series as columns and categories as rows, with their names; empty when the chart stores no values. */
  rows: string[][]
}

/** Converts a chart to a caption and a table of its values. */
export function toChartBlocks({ title, axes, kind, rows }: ChartContent): Block[] {
  const name = collapseSpaces(title)
  const axisNames = axes.map(collapseSpaces).filter((axis) => axis !== '')
  const captionText = [name, axisNames.length > 0 ? `(${axisNames.join(' / ')})` : '']
    .filter((part) => part !== '')
    .join(' ')
  const caption: Block[] =
    captionText === '' ? [] : [{ type: 'paragraph', text: captionText, metadata: { role: 'caption' } }]
  if (rows.length === 0) return caption
  return [...caption, ...buildTableBlocks(rows, true, { chart: kind, ...(name === '' ? {} : { caption: name }) })]
}

/** Formats a number as programs show it: `0.3` for the computed `0.30000000000000004`. */
export function formatChartNumber(value: number): string {
  return String(Number(value.toPrecision(12)))
}
