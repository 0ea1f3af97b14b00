/** Draws captured output of a terminal, with its SGR sequences, as an SVG. */

const COLUMN_WIDTH = 8.4
const LINE_HEIGHT = 19
const PADDING = 16
const TITLE_HEIGHT = 30
const FOREGROUND = '#d4d7dd'
const COLOURS = ['#3b4048', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d4d7dd']
const BRIGHT_COLOURS = ['#7f848e', '#f08a92', '#b5dd96', '#f2d597', '#86c5ff', '#dd9bf0', '#7fd3dd', '#ffffff']

/** @typedef {{ colour?: string, bold?: boolean, dim?: boolean, italic?: boolean, underline?: boolean }} Style */

/** @param {string} text lines with SGR sequences @param {{ columns: number, title: string }} options */
export function renderTerminal(text, { columns, title }) {
  const lines = text.replace(/\n$/, '').split('\n')
  const width = Math.ceil(columns * COLUMN_WIDTH + 2 * PADDING)
  const height = Math.ceil(lines.length * LINE_HEIGHT + 2 * PADDING + TITLE_HEIGHT)
  let style = {}
  const drawn = lines.map((line, index) => {
    const parsed = parseLine(line, style)
    style = parsed.style
    const y = TITLE_HEIGHT + PADDING + (index + 0.75) * LINE_HEIGHT
    return parsed.spans.length === 0
      ? ''
      : `<text x="${PADDING}" y="${y}" xml:space="preserve">${parsed.spans.map(renderSpan).join('')}</text>`
  })
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, n) => `<circle cx="${20 + n * 18}" cy="15" r="5.5" fill="${fill}"/>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#1e2127"/>`,
    ...dots,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${FOREGROUND}">`,
    ...drawn.filter((line) => line !== ''),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** @param {string} line @param {Style} style at the start of the line */
function parseLine(line, style) {
  const spans = []
  // Links of OSC 8 are drawn as their text.
  const parts = line.replace(/\u001b\]8;[^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '').split(/\u001b\[([\d;]*)m/)
  let current = style
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1) current = applyCodes(current, part)
    else if (part !== '') spans.push({ text: part, style: current })
  }
  return { spans, style: current }
}

/** @param {Style} style @param {string} codes such as `1;36` */
function applyCodes(style, codes) {
  let next = { ...style }
  for (const code of (codes === '' ? '0' : codes).split(';').map(Number)) {
    if (code === 0) next = {}
    else if (code === 1) next.bold = true
    else if (code === 2) next.dim = true
    else if (code === 3) next.italic = true
    else if (code === 4) next.underline = true
    else if (code === 22) next = { ...next, bold: false, dim: false }
    else if (code === 23) next.italic = false
    else if (code === 24) next.underline = false
    else if (code >= 30 && code <= 37) next.colour = COLOURS[code - 30]
    else if (code === 39) next.colour = undefined
    else if (code >= 90 && code <= 97) next.colour = BRIGHT_COLOURS[code - 90]
  }
  return next
}

/** @param {{ text: string, style: Style }} span */
function renderSpan({ text, style }) {
  const attributes = [
    style.colour === undefined ? '' : ` fill="${style.colour}"`,
    style.bold ? ' font-weight="bold"' : '',
    style.dim ? ' opacity="0.65"' : '',
    style.italic ? ' font-style="italic"' : '',
    style.underline ? ' text-decoration="underline"' : '',
  ]
  return `<tspan${attributes.join('')}>${escapeXml(text)}</tspan>`
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
