/** Receives the tokens of an RTF file in order. Texts are Latin-1: one character for each byte. */
export interface RtfHandler {
  open(): void
  close(): void
  /** `\word` or `\word-12`. `\'e4` is passed as text; `\*` and other signs as words of one character. */
  control(word: string, parameter: number | undefined): void
  text(bytes: string): void
}

const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125
const CONTROL = /([a-zA-Z]{1,32})(-?\d{1,10})? ?/y
const HEX = /^[0-9a-fA-F]{2}$/

/**
 * Tokenizes an RTF file (RTF Specification 1.9.1, "Basic Entities"). Skips malformed content, in linear time and
 * without recursion.
 *
 * @param source the file as Latin-1
 */
export function tokenizeRtf(source: string, handler: RtfHandler): void {
  let offset = 0
  while (offset < source.length) {
    const code = source.charCodeAt(offset)
    if (code === OPEN) {
      handler.open()
      offset++
    } else if (code === CLOSE) {
      handler.close()
      offset++
    } else if (code === BACKSLASH) {
      offset = readControl(source, offset + 1, handler)
    } else {
      offset = readText(source, offset, handler)
    }
  }
}

function readText(source: string, start: number, handler: RtfHandler): number {
  let end = start
  for (; end < source.length; end++) {
    const code = source.charCodeAt(end)
    if (code === OPEN || code === CLOSE || code === BACKSLASH) break
  }
  // line ends have no meaning
  const text = source.slice(start, end).replace(/[\r\n\0]+/g, '')
  if (text !== '') handler.text(text)
  return end
}

/** @returns the offset of the next token */
function readControl(source: string, start: number, handler: RtfHandler): number {
  CONTROL.lastIndex = start
  const match = CONTROL.exec(source)
  if (match !== null) {
    const [token, word = '', digits] = match
    const parameter = digits === undefined ? undefined : Number(digits)
    const next = start + token.length
    // skip raw bytes, which may look like anything
    if (word === 'bin') return next + Math.max(0, parameter ?? 0)
    handler.control(word, parameter)
    return next
  }
  const sign = source.charAt(start)
  if (sign === "'") {
    const hex = source.slice(start + 1, start + 3)
    if (!HEX.test(hex)) return start + 1
    handler.text(String.fromCharCode(Number.parseInt(hex, 16)))
    return start + 3
  }
  if (sign === '\\' || sign === '{' || sign === '}') handler.text(sign)
  else if (sign !== '') handler.control(sign, undefined)
  return start + 1
}
