import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './daemon.js'

/** One measured figure, with the bar it has to reach where there is one. */
export interface Figure {
  name: string
  value: number
  unit: string
  /** `atLeast`/`atMost` the number */
  bar?: { atLeast: number } | { atMost: number }
  /** the lowest and the highest of the rounds whose middle the value is */
  spread?: [number, number]
  /** said beside the figure */
  note?: string
  /** what the value is relative to, or measured under */
  beside?: string
  /** when it was measured, where that was another run than the last */
  at?: string
}

export interface Stored {
  name: string
  at: string
  /** of the machine, over 1, 5 and 15 minutes, when the run ended */
  load?: string
  figures: Figure[]
}

const RESULTS = join(ROOT, 'bench', 'results')

/**
 * Prints the figures of a bench with their bars and with the previous run's, stores them as
 * `bench/results/<name>-latest.json`, and sets the exit code to 1 when a bar was missed.
 *
 * @param keepOthers figures of earlier runs that this one did not measure stay: it was asked for some sizes only
 */
export function report(name: string, figures: Figure[], { keepOthers = false } = {}): void {
  const path = join(RESULTS, `${name}-latest.json`)
  const before = storedOf(name)
  const rows = figures.map((figure) =>
    row(
      figure,
      before?.figures.find((old) => old.name === figure.name),
    ),
  )
  printTable(['figure', 'value', 'bar', '', 'before'], rows)
  const failed = figures.filter((figure) => !holds(figure))
  const barred = figures.filter((figure) => figure.bar !== undefined).length
  process.stdout.write(`${name}: ${barred - failed.length} of ${barred} bars held\n`)
  const stored: Stored = { name, at: new Date().toISOString(), load: load(), figures }
  mkdirSync(RESULTS, { recursive: true })
  if (before !== undefined) renameSync(path, join(RESULTS, `${name}-previous.json`))
  const others = keepOthers && before !== undefined ? othersOf(before, figures) : []
  writeFileSync(path, textOf({ ...stored, figures: [...others, ...figures] }))
  if (failed.length > 0) process.exitCode = 1
}

/** What the last run of a bench found, and those before it of sizes that it was not asked for. */
export function storedOf(name: string): Stored | undefined {
  const path = join(RESULTS, `${name}-latest.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

function othersOf({ at, figures }: Stored, measured: readonly Figure[]): Figure[] {
  const names = new Set(measured.map(({ name }) => name))
  return figures.flatMap((figure) => (names.has(figure.name) ? [] : [{ at, ...figure }]))
}

function textOf(stored: Stored): string {
  return `${JSON.stringify(stored, null, 2)}\n`
}

/** The load of the machine over 1, 5 and 15 minutes. */
export function load(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')
}

/** Prints figures at once, one a line, for a bench that goes on. */
export function printFigures(figures: readonly Figure[]): void {
  for (const figure of figures) process.stdout.write(`${row(figure, undefined).join('  ').trimEnd()}\n`)
}

function row(figure: Figure, before: Figure | undefined): string[] {
  const verdict = figure.bar === undefined ? '' : holds(figure) ? 'pass' : 'FAIL'
  const notes = [spreadText(figure), figure.beside, figure.note].filter((note) => note !== undefined)
  const note = notes.length === 0 ? '' : ` (${notes.join('; ')})`
  const old = before === undefined ? '' : format(before)
  return [figure.name, `${format(figure)}${note}`, barText(figure), verdict, old]
}

/** Whether a figure reaches its bar; one without a bar does. */
export function holds({ bar, value }: Figure): boolean {
  if (bar === undefined) return true
  return 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost
}

/** The rounds' lowest and highest, where there were several. */
export function spreadText({ spread }: Figure): string | undefined {
  return spread === undefined || spread[0] === spread[1] ? undefined : `${number(spread[0])} to ${number(spread[1])}`
}

export function barText({ bar, unit }: Figure): string {
  if (bar === undefined) return ''
  return 'atLeast' in bar ? `>= ${number(bar.atLeast)} ${unit}` : `<= ${number(bar.atMost)} ${unit}`
}

export function format({ value, unit }: Figure): string {
  return `${number(value)} ${unit}`.trimEnd()
}

/** Four significant digits, whole numbers as they are. */
function number(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en-US')
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(4)))
}

export function printTable(header: string[], rows: string[][]): void {
  process.stdout.write(tableText(header, rows))
}

/** Columns parted by two spaces, as wide as their longest cell. */
export function tableText(header: string[], rows: string[][]): string {
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

/** The value below which `share` of the samples lie (nearest rank). */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const place = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))
  return sorted[place] ?? Number.NaN
}
