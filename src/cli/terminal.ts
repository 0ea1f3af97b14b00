/** Terminal capabilities, and escaping of untrusted text. */

type Env = Readonly<Record<string, string | undefined>>

/**
 * Escapes untrusted text for a terminal: control characters (C0, DEL, C1), which could move the cursor, change the
 * window title or fake output, are shown in caret notation, direction overrides by their code point. Line breaks and
 * tabs are kept; a lone carriage return, which would overwrite its line, is not.
 */
export function tty(text: string): string {
  if (!UNSAFE.test(text)) return text
  return text.replace(/\r\n/g, '\n').replace(UNSAFE_ALL, visible)
}

// Newline and tab are the only control characters that pass. U+061C, U+200E/F, U+202A-E and U+2066-9 reorder displayed
// text; U+2028/9 break lines in some terminals.
const UNSAFE_SET =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069'
const UNSAFE = new RegExp(`[${UNSAFE_SET}]`)
const UNSAFE_ALL = new RegExp(`[${UNSAFE_SET}]`, 'g')

function visible(mark: string): string {
  const code = mark.charCodeAt(0)
  if (code < 0x20) return `^${String.fromCharCode(code + 64)}`
  if (code === 0x7f) return '^?'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** Weights, italic, underline, inverse, strike and foreground colours, on and off; not hidden, blink or background. */
const STYLES = '\\u001b\\[(?:(?:[0-479]|2[2-479]|3[0-79]|9[0-7])(?:;(?=\\d)|(?=m)))*m'
const UNSAFE_BUT_STYLES = new RegExp(`(${STYLES})|[${UNSAFE_SET}]`, 'g')

/** Like `tty`, but keeps sequences that only style characters. */
export function ttyStyled(text: string): string {
  if (!UNSAFE.test(text)) return text
  return text
    .replace(/\r\n/g, '\n')
    .replace(UNSAFE_BUT_STYLES, (mark: string, style: string | undefined) => style ?? visible(mark))
}

/** Like `tty`, on one line. */
export function ttyLine(text: string): string {
  return tty(text.replace(/\s+/g, ' ').trim())
}

/** A name on one line: unchanged if all of it is visible, else quoted and escaped as JSON. */
export function ttyName(name: string): string {
  const isPlain = name === ttyLine(name) && !/^"|[\u2028\u2029\ufeff]/.test(name)
  return isPlain ? name : escapeUnseen(JSON.stringify(name))
}

/** Escapes characters that JSON leaves unescaped but a terminal does not show: C1 controls, DEL and direction marks. */
export function escapeUnseen(json: string): string {
  return json.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (mark) => {
    return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Whether to colour a stream: decided by the explicit option, then the environment, then whether it is a terminal. */
export function wantsColour(options: { wish?: boolean | undefined; isTTY: boolean; env: Env }): boolean {
  const { env } = options
  if (options.wish !== undefined) return options.wish
  if (isSet(env.NO_COLOR)) return false
  if (isSet(env.FORCE_COLOR) && env.FORCE_COLOR !== '0') return true
  if (isSet(env.CLICOLOR_FORCE) && env.CLICOLOR_FORCE !== '0') return true
  if (env.FORCE_COLOR === '0' || env.CLICOLOR === '0' || env.TERM === 'dumb' || isSet(env.CI)) return false
  return options.isTTY
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

/** Whether the locale prints symbols beyond ASCII. */
export function hasUnicode(env: Env): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || ''
  return /utf-?8/i.test(locale) || (locale === '' && process.platform !== 'linux')
}

export interface Symbols {
  ok: string
  warn: string
  bad: string
  arrow: string
  ellipsis: string
  full: string
  empty: string
}

export function symbols(unicode: boolean): Symbols {
  return unicode
    ? { ok: '✓', warn: '!', bad: '✗', arrow: '→', ellipsis: '…', full: '█', empty: '░' }
    : { ok: 'ok', warn: '!', bad: 'x', arrow: '->', ellipsis: '...', full: '#', empty: '.' }
}

export type Colour = 'red' | 'green' | 'yellow' | 'dim' | 'bold'

const CODES: Readonly<Record<Colour, [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  dim: [2, 22],
  bold: [1, 22],
}

/** Wraps text in a colour's escape codes if colours are enabled. */
export function paint(on: boolean, colour: Colour, text: string): string {
  const [open, close] = CODES[colour]
  return on ? `\u001b[${open}m${text}\u001b[${close}m` : text
}

export function terminalWidth(stream: { columns?: number | undefined }, env: Env): number {
  const asked = Number(env.COLUMNS)
  if (Number.isInteger(asked) && asked >= 20) return asked
  // A terminal without a size reports 0 columns.
  return stream.columns || 80
}
