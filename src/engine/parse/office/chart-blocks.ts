import type { Block } from '../parsed.js'
import { tableBlocks } from '../tables.js'

/** A chart as any format tells it. */
export interface ChartSaid {
  title: string
  axes: readonly string[]
  /** `bar`, `line`; `chart` where it is not known */
  kind: string
  /** series across, categories down, with their heads; empty where the chart keeps no figures */
  rows: string[][]
}

/** A chart as a table: what is said of it above, its figures below. */
export function chartBlocks({ title, axes, kind, rows }: ChartSaid): Block[] {
  const name = tidy(title)
  const named = axes.map(tidy).filter((axis) => axis !== '')
  const said = [name, named.length > 0 ? `(${named.join(' / ')})` : ''].filter((part) => part !== '').join(' ')
  const caption: Block[] = said === '' ? [] : [{ type: 'paragraph', text: said, metadata: { role: 'caption' } }]
  if (rows.length === 0) return caption
  return [...caption, ...tableBlocks(rows, true, { chart: kind, ...(name === '' ? {} : { caption: name }) })]
}

/** `0.30000000000000004` is what a program computed; `0.3` is what it shows. */
export function figure(value: number): string {
  return String(Number(value.toPrecision(12)))
}

function tidy(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
