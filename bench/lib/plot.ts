import type { Figure } from './report.js'

/** One plot of several: lines over the number of passages, on a logarithmic scale of sizes. */
interface Panel {
  title: string
  unit: string
  /** lines of figures' points, each with what it is called */
  lines: Record<string, string>
}

interface Point {
  size: number
  value: number
}

const PANELS: readonly Panel[] = [
  { title: 'A question, one at a time', unit: 'ms', lines: { p95: 'p95', p50: 'p50' } },
  { title: 'Processor time', unit: 'ms a question', lines: { 'processor time': 'daemon and index' } },
  { title: 'Taking passages in', unit: 'passages/s', lines: { ingest: 'over HTTP' } },
  {
    title: 'Memory a passage',
    unit: 'bytes',
    lines: { 'memory of daemon': 'daemon', 'memory of index': 'index process' },
  },
]
const WIDTH = 300
const HEIGHT = 260
/** room around the lines of a panel, for its labels */
const ROOM = { left: 58, right: 16, top: 44, bottom: 44 }
const TICKS = 4
const FOOT = 26

/** Colours that can be told apart on white and on black; the ink follows what the reader has chosen. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 } .small { font-size: 11px }
  .grid { stroke: #8886; stroke-width: 1 } .axis { stroke: #888 }
  .line { fill: none; stroke-width: 2 } .a { stroke: #d1661f } .b { stroke: #2f7fd6 }
  circle.a { fill: #d1661f } circle.b { fill: #2f7fd6 } text.a { fill: #d1661f; stroke: none } text.b { fill: #2f7fd6; stroke: none }
  @media (prefers-color-scheme: dark) { text { fill: #d7dde3 } }`

/**
 * Cost against size, as an SVG: of the figures that are points of it.
 *
 * @param foot where and when they were measured
 */
export function costPlot(figures: readonly Figure[], foot: string): string {
  const panels = PANELS.map(
    (panel, place) => `<g transform="translate(${place * WIDTH} 0)">${drawn(panel, figures)}</g>`,
  )
  const width = WIDTH * PANELS.length
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT + FOOT}" width="${width}" height="${HEIGHT + FOOT}" role="img">`,
    '<title>Cost against the number of passages in a space</title>',
    `<style>${STYLE}\n</style>`,
    ...panels,
    `<text class="small" x="${ROOM.left}" y="${HEIGHT + FOOT / 2}">${escaped(foot)}</text>`,
    '</svg>\n',
  ].join('\n')
}

/** The values of a line, by size. */
export function pointsOf(figures: readonly Figure[], line: string): Point[] {
  return figures
    .flatMap(({ point, value }) => (point?.line === line ? [{ size: point.size, value }] : []))
    .sort((a, b) => a.size - b.size)
}

function drawn({ title, unit, lines }: Panel, figures: readonly Figure[]): string {
  const series = Object.entries(lines).map(([line, label]) => ({ label, points: pointsOf(figures, line) }))
  const all = series.flatMap(({ points }) => points)
  const head = `<text class="title" x="${ROOM.left}" y="18">${title}</text><text class="small" x="${ROOM.left}" y="34">${unit}</text>`
  if (all.length === 0)
    return `${head}<text class="small" x="${ROOM.left}" y="${HEIGHT / 2}">not measured in this run</text>`
  const sizes = [...new Set(all.map(({ size }) => size))].sort((a, b) => a - b)
  const top = roundUp(Math.max(...all.map(({ value }) => value)))
  const x = across(sizes)
  const y = (value: number) => HEIGHT - ROOM.bottom - (value / top) * (HEIGHT - ROOM.top - ROOM.bottom)
  const right = WIDTH - ROOM.right
  const rows = Array.from({ length: TICKS + 1 }, (_, tick) => {
    const value = (top * tick) / TICKS
    const at = y(value).toFixed(1)
    return `<line class="${tick === 0 ? 'axis' : 'grid'}" x1="${ROOM.left}" x2="${right}" y1="${at}" y2="${at}"/><text class="small" text-anchor="end" x="${ROOM.left - 6}" y="${(y(value) + 4).toFixed(1)}">${value.toLocaleString('en-US')}</text>`
  })
  const columns = sizes.map(
    (size) =>
      `<text class="small" text-anchor="middle" x="${x(size).toFixed(1)}" y="${HEIGHT - ROOM.bottom + 16}">${short(size)}</text>`,
  )
  const below = `<text class="small" text-anchor="middle" x="${(ROOM.left + right) / 2}" y="${HEIGHT - 10}">passages in the space</text>`
  const marks = series.map(({ label, points }, place) => {
    const colour = place === 0 ? 'a' : 'b'
    const path = points.map(
      ({ size, value }, at) => `${at === 0 ? 'M' : 'L'}${x(size).toFixed(1)} ${y(value).toFixed(1)}`,
    )
    const dots = points.map(
      ({ size, value }) =>
        `<circle class="${colour}" cx="${x(size).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3"><title>${short(size)} passages: ${Number(value.toPrecision(3))} ${unit}</title></circle>`,
    )
    // not beside the lines, which meet: above them, one under the other
    const named = `<text class="small ${colour}" text-anchor="end" x="${right}" y="${20 + place * 14}">${label}</text>`
    return `<path class="line ${colour}" d="${path.join(' ')}"/>${dots.join('')}${named}`
  })
  return [head, ...rows, ...columns, below, ...marks].join('\n')
}

/** Sizes at even distances of their logarithms; a single one in the middle. */
function across(sizes: readonly number[]): (size: number) => number {
  const [least = 1, most = 1] = [sizes[0], sizes.at(-1)]
  const [from, to] = [ROOM.left + 12, WIDTH - ROOM.right - 12]
  if (least === most) return () => (from + to) / 2
  return (size) => from + ((Math.log(size) - Math.log(least)) / (Math.log(most) - Math.log(least))) * (to - from)
}

/** The next number that a scale of four steps can be read from. */
export function roundUp(value: number): number {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 4, 6, 8, 10].map((step) => step * unit).find((step) => step >= value) ?? 10 * unit
}

function short(size: number): string {
  return size >= 1e6 ? `${size / 1e6}M` : size >= 1e3 ? `${size / 1e3}k` : String(size)
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? sign)
}
