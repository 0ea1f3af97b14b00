import type { Draft } from './table-build.js'
import type { Row } from './table-words.js'

const NUMBERED = /^(?:Table|TABLE|Tab\.|Exhibit|EXHIBIT|Tabelle|Tableau|Tabla|Tabella|表|표)\s*(?:\d|[IVXL]+\b|[A-Z]\b)/
/** Running lines above tables that do not name them. */
const RUNNING = /^(?:table of contents|page \d+)$/i
/** Maximal length of a caption in characters, and of a title above a table in words and lines. */
const MAX_CAPTION = 400
const MAX_TITLE_WORDS = 14
const MAX_TITLE_LINES = 3
/** Maximal distance between lines of one caption, and between a caption and its table, in text sizes. */
const STEP = 1.7
const AWAY = 3.6

export interface Around {
  /** Lines above, nearest last, and below, nearest first. */
  above: readonly Row[]
  below: readonly Row[]
  /** Baselines of the first and the last row of the table. */
  top: number
  bottom: number
}

/** Whether a text is a numbered caption such as `Table 3`. */
export function isNumberedCaption(text: string): boolean {
  return NUMBERED.test(text)
}

/** Whether a line near the table is a numbered caption such as `Table 3`. */
export function isNamed(draft: Pick<Draft, 'above' | 'below' | 'used'>): boolean {
  const top = draft.used[0]?.y ?? 0
  const bottom = draft.used.at(-1)?.y ?? 0
  const around = { above: draft.above, below: draft.below, top, bottom }
  return numberedAbove(around) !== undefined || numberedBelow(around) !== undefined
}

/**
 * Finds the caption of a table: its numbered caption, else the short lines or the sentence with a colon directly above
 * it.
 */
export function captionOf(around: Around): string | undefined {
  const found = numberedAbove(around) ?? numberedBelow(around) ?? titleAbove(around) ?? sentenceAbove(around)
  return found === undefined || found.length > MAX_CAPTION ? found?.slice(0, MAX_CAPTION) : found
}

function numberedAbove({ above, top }: Around): string | undefined {
  const near = reachable([...above].reverse(), top)
  const at = near.findIndex((row) => NUMBERED.test(textOf(row)))
  return at === -1 || at > 4 ? undefined : joined(near.slice(0, at + 1).reverse())
}

function numberedBelow({ below, bottom }: Around): string | undefined {
  const [first, ...more] = below
  if (first === undefined || !NUMBERED.test(textOf(first)) || bottom - first.y > AWAY * first.size) return undefined
  const lines = [first]
  for (const row of more) {
    const last = lines.at(-1) ?? first
    if (last.y - row.y > STEP * row.size || lines.length >= 4 || textOf(last).endsWith('.')) break
    lines.push(row)
  }
  return joined(lines)
}

/** Lines from a table upwards without a wide gap between them. */
function reachable(rows: readonly Row[], from: number): Row[] {
  const near: Row[] = []
  let last = from
  for (const row of rows) {
    if (Math.abs(row.y - last) > AWAY * row.size) break
    near.push(row)
    last = row.y
  }
  return near
}

function titleAbove({ above, top }: Around): string | undefined {
  const lines: Row[] = []
  for (const row of reachable([...above].reverse(), top)) {
    const text = textOf(row)
    const title = text.split(' ').length <= MAX_TITLE_WORDS && !/[.,;:]$/.test(text) && /\p{L}{2}/u.test(text)
    if (!title || lines.length >= MAX_TITLE_LINES || RUNNING.test(text)) break
    lines.unshift(row)
  }
  return lines.length === 0 ? undefined : joined(lines)
}

function sentenceAbove({ above, top }: Around): string | undefined {
  const [nearest, ...more] = reachable([...above].reverse(), top)
  if (nearest === undefined || !textOf(nearest).endsWith(':')) return undefined
  const lines = [nearest]
  for (const row of more) {
    const first = lines[0] ?? nearest
    if (row.y - first.y > STEP * row.size || lines.length >= 4) break
    lines.unshift(row)
  }
  const text = joined(lines)
  return text.slice(text.lastIndexOf('. ') + 1).trim()
}

function textOf(row: Row): string {
  return row.segments.map((one) => one.text).join(' ')
}

function joined(rows: readonly Row[]): string {
  return rows.map(textOf).join(' ')
}
