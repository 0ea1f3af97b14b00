import type { Block } from '../parsed.js'
import { tableBlocks } from '../tables.js'

/** The content of a chart, independent of the format. */
export interface ChartSaid {
  title: string
  axes: readonly string[]
  /** `bar`, `line`; `chart` when unknown. */
  kind: string
  /** Series as columns and categories as rows, with their names; empty when the chart stores no values. */
  rows: string[][]
}

/** Converts a chart to a caption and a table of its values. */
export function chartBlocks({ title, axes, kind, rows }: ChartSaid): Block[] {
  const name = tidy(title)
  const named = axes.map(tidy).filter((axis) => axis !== '')
  const said = [name, named.length > 0 ? `(${named.join(' / ')})` : ''].filter((part) => part !== '').join(' ')
  const caption: Block[] = said === '' ? [] : [{ type: 'paragraph', text: said, metadata: { role: 'caption' } }]
  if (rows.length === 0) return caption
  return [...caption, ...tableBlocks(rows, true, { chart: kind, ...(name === '' ? {} : { caption: name }) })]
}

/** Formats a number as programs show it: `0.3` for the computed `0.30000000000000004`. */
export function figure(value: number): string {
  return String(Number(value.toPrecision(12)))
}

function tidy(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
