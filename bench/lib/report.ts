import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './daemon.js'

export interface Figure {
  name: string
  value: number
  unit: string
  bar?: { atLeast: number } | { atMost: number }
  /** lowest and highest of the rounds; the value is their median */
  spread?: [number, number]
  note?: string
  /** what the value is relative to, or measured under */
  conditions?: string
  /** set if an earlier run measured it */
  measuredAt?: string
}

interface StoredReport {
  name: string
  measuredAt: string
  /** of the machine at the end of the run, over 1, 5 and 15 minutes */
  load?: string
  figures: Figure[]
}

const RESULTS = join(ROOT, 'bench', 'results')

/**
 * Prints the figures of a bench with their bars and previous values, stores them as `bench/results/<name>-latest.json`, and
 * sets the exit code to 1 if a bar was missed.
 *
 * @param keepOthers keeps figures of earlier runs that this run did not measure
 */
export function report(name: string, figures: Figure[], { keepOthers = false } = {}): void {
  const path = join(RESULTS, `${name}-latest.json`)
  const previous = readStored(name)
  const rows = figures.map((figure) =>
    formatRow(
      figure,
      previous?.figures.find((previousFigure) => previousFigure.name === figure.name),
    ),
  )
  process.stdout.write(formatTable(['figure', 'value', 'bar', '', 'before'], rows))
  const failed = figures.filter((figure) => !meetsBar(figure))
  const barred = figures.filter((figure) => figure.bar !== undefined).length
  process.stdout.write(`${name}: ${barred - failed.length} of ${barred} bars held\n`)
  const stored: StoredReport = { name, measuredAt: new Date().toISOString(), load: formatLoad(), figures }
  mkdirSync(RESULTS, { recursive: true })
  if (previous !== undefined) renameSync(path, join(RESULTS, `${name}-previous.json`))
  const others = keepOthers && previous !== undefined ? selectOthers(previous, figures) : []
  writeFileSync(path, `${JSON.stringify({ ...stored, figures: [...others, ...figures] }, null, 2)}\n`)
  if (failed.length > 0) process.exitCode = 1
}

function readStored(name: string): StoredReport | undefined {
  const path = join(RESULTS, `${name}-latest.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

function selectOthers({ measuredAt, figures }: StoredReport, measured: readonly Figure[]): Figure[] {
  const names = new Set(measured.map(({ name }) => name))
  return figures.flatMap((figure) => (names.has(figure.name) ? [] : [{ measuredAt, ...figure }]))
}

function formatLoad(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')
}

/** Prints figures while the bench continues. */
export function printFigures(figures: readonly Figure[]): void {
  for (const figure of figures) process.stdout.write(`${formatRow(figure, undefined).join('  ').trimEnd()}\n`)
}

function formatRow(figure: Figure, previous: Figure | undefined): string[] {
  const verdict = figure.bar === undefined ? '' : meetsBar(figure) ? 'pass' : 'FAIL'
  const notes = [formatSpread(figure), figure.conditions, figure.note].filter((note) => note !== undefined)
  const note = notes.length === 0 ? '' : ` (${notes.join('; ')})`
  const previousText = previous === undefined ? '' : formatValue(previous)
  return [figure.name, `${formatValue(figure)}${note}`, formatBar(figure), verdict, previousText]
}

/** Whether a figure meets its bar; true without a bar. */
export function meetsBar({ bar, value }: Figure): boolean {
  if (bar === undefined) return true
  return 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost
}

function formatSpread({ spread }: Figure): string | undefined {
  return spread === undefined || spread[0] === spread[1]
    ? undefined
    : `${formatNumber(spread[0])} to ${formatNumber(spread[1])}`
}

function formatBar({ bar, unit }: Figure): string {
  if (bar === undefined) return ''
  return 'atLeast' in bar ? `>= ${formatNumber(bar.atLeast)} ${unit}` : `<= ${formatNumber(bar.atMost)} ${unit}`
}

function formatValue({ value, unit }: Figure): string {
  return `${formatNumber(value)} ${unit}`.trimEnd()
}

/** Formats four significant digits; integers in full. */
function formatNumber(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en-US')
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(4)))
}

export function formatTable(header: string[], rows: string[][]): string {
  const all = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)))
  const lines = all.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

/** Computes a percentile by nearest rank. */
export function percentile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(fraction * sorted.length) - 1))
  return sorted[index] ?? Number.NaN
}
