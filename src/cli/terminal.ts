/** Terminal capabilities, and escaping of untrusted text. */

type TerminalEnv = Readonly<Record<string, string | undefined>>

/**
 * Escapes untrusted text for a terminal: control characters (C0, DEL, C1), which could move the cursor, change the
 * window title or fake output, are shown in caret notation, direction overrides by their code point. Line breaks and
 * tabs are kept; a lone carriage return, which would overwrite its line, is not.
 */
export function tty(text: string): string {
  if (!UNSAFE.test(text)) return text
  return text.replace(/\r\n/g, '\n').replace(UNSAFE_ALL, toVisible)
}

// Newline and tab are the only control characters that pass. U+061C, U+200E/F, U+202A-E and U+2066-9 reorder displayed
// text; U+2028/9 break lines in some terminals.
const UNSAFE_SET =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069'
const UNSAFE = new RegExp(`[${UNSAFE_SET}]`)
const UNSAFE_ALL = new RegExp(`[${UNSAFE_SET}]`, 'g')

function toVisible(character: string): string {
  const code = character.charCodeAt(0)
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
    .replace(UNSAFE_BUT_STYLES, (mark: string, style: string | undefined) => style ?? toVisible(mark))
}

/** Like `tty`, on one line. */
export function ttyLine(text: string): string {
  return tty(text.replace(/\s+/g, ' ').trim())
}

/** A name on one line: unchanged if all of it is visible, else quoted and escaped as JSON. */
export function ttyName(name: string): string {
  const isPlain = name === ttyLine(name) && !/^"|[\u2028\u2029\ufeff]/.test(name)
  return isPlain ? name : escapeInvisible(JSON.stringify(name))
}

/** Escapes characters that JSON leaves unescaped but a terminal does not show: C1 controls, DEL and direction marks. */
export function escapeInvisible(json: string): string {
  return json.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (mark) => {
    return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Whether to colour a stream: decided by the explicit option, then the environment, then whether it is a terminal. */
export function isColourEnabled(options: {
  override?: boolean | undefined
  isTTY: boolean
  env: TerminalEnv
}): boolean {
  const { env } = options
  if (options.override !== undefined) return options.override
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
export function hasUnicode(env: TerminalEnv): boolean {
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

export function getSymbols({ unicode }: { unicode: boolean }): Symbols {
  return unicode
    ? { ok: '✓', warn: '!', bad: '✗', arrow: '→', ellipsis: '…', full: '█', empty: '░' }
    : { ok: 'ok', warn: '!', bad: 'x', arrow: '->', ellipsis: '...', full: '#', empty: '.' }
}

export type Colour = 'red' | 'green' | 'yellow' | 'magenta' | 'dim' | 'bold'

/** Characters and colours that a terminal can show. */
export interface OutputStyle {
  unicode: boolean
  paint: (colour: Colour, text: string) => string
}

const COLOUR_CODES: Readonly<Record<Colour, [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
  dim: [2, 22],
  bold: [1, 22],
}

/** Encloses text in the escape codes of a colour. */
export function paint(colour: Colour, text: string): string {
  const [open, close] = COLOUR_CODES[colour]
  return `\u001b[${open}m${text}\u001b[${close}m`
}

/** Columns of a terminal: those of `COLUMNS` from 20, else those of the stream. */
export function getTerminalWidth(stream: { columns?: number | undefined }, env: TerminalEnv): number {
  const configured = Number(env.COLUMNS)
  if (Number.isInteger(configured) && configured >= 20) return configured
  // A terminal without a size reports 0 columns.
  return stream.columns || 80
}
