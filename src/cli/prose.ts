import stringWidth from 'string-width'

/** Wraps words at the width of a terminal. Loaded only for terminals, since measuring columns needs several modules. */

/** With fewer columns after a hanging indent, continuation lines start at the margin. */
const MIN_HANGING_COLUMNS = 16
/** Maximum length of a marker at the start of a line: after this many characters the kind of line is known. */
const MAX_MARKER_CHARACTERS = 12

/** Scripts without spaces: lines may break between any two characters except before closing punctuation. */
const WIDE = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3000-\\u303f\\uff00-\\uffef'
const CLOSING = '、。，．！？；：」』）】〕〉》ー'
/** Spaces, a wide character, or a word; text between backticks is one word. */
const TOKEN = new RegExp(`\\s+|[${WIDE}][${CLOSING}]*|(?:\`[^\`]*\`|[^\\s${WIDE}])+`, 'gu')

interface LineStart {
  /** Start of the line, printed unchanged. */
  head: string
  /** Start of the continuation lines. */
  hang: string
}

/** Parses the start of a line. @returns undefined for a line that is never broken */
type ParseLineStart = (line: string) => LineStart | undefined

/** Wraps text that arrives in parts: the concatenated results of `push` and `end` are the wrapped text. */
export class ProseWrapper {
  private readonly width: number
  private readonly parseStart: ParseLineStart
  private pending = ''
  private state: 'start' | 'words' | 'unwrapped' = 'start'
  private hang = ''
  private column = 0
  private space = ''

  constructor(width: number, parseStart: ParseLineStart) {
    this.width = width
    this.parseStart = parseStart
  }

  /** Adds a part. @returns what can be printed now */
  push(text: string): string {
    this.pending += text
    let out = ''
    for (let end = this.pending.indexOf('\n'); end >= 0; end = this.pending.indexOf('\n')) {
      const nextLines = this.pending.slice(end + 1)
      out += `${this.wrapPart(this.pending.slice(0, end), { isComplete: true })}\n`
      this.pending = nextLines
      this.state = 'start'
    }
    return out + this.wrapPart(this.pending, { isComplete: false })
  }

  /** Returns the text that was held back as an incomplete word. */
  end(): string {
    return this.wrapPart(this.pending, { isComplete: true })
  }

  /** Wraps a part of a line. @param isComplete whether the part ends its line; otherwise its last word is held back */
  private wrapPart(text: string, { isComplete }: { isComplete: boolean }): string {
    let [remaining, out] = [text, '']
    this.pending = ''
    if (this.state === 'start') {
      if (!isComplete && remaining.trimStart().length < MAX_MARKER_CHARACTERS) {
        this.pending = remaining
        return ''
      }
      const start = this.parseStart(remaining)
      this.state = start === undefined ? 'unwrapped' : 'words'
      this.space = ''
      if (start !== undefined) {
        const { head, hang } = start
        this.hang = this.width - stringWidth(hang) < MIN_HANGING_COLUMNS ? '' : hang
        this.column = stringWidth(head)
        out = head
        remaining = remaining.slice(head.length)
      }
    }
    return out + (this.state === 'unwrapped' ? remaining : this.wrapWords(remaining, { isComplete }))
  }

  private wrapWords(text: string, { isComplete }: { isComplete: boolean }): string {
    let out = ''
    const tokens = [...text.matchAll(TOKEN)]
    for (const { 0: token, index } of tokens) {
      const isOpen = index + token.length === text.length || token.split('`').length % 2 === 0
      if (!isComplete && isOpen) {
        this.pending = text.slice(index)
        break
      }
      if (token.trim() === '') this.space = token.replaceAll('\t', '  ')
      else if (stringWidth(token) + this.hang.length <= this.width) out += this.appendWord(token)
      else
        for (const [part] of token.matchAll(/\s+|\S+/g)) {
          if (part.trim() === '') this.space = part
          else out += this.appendWord(part)
        }
    }
    return out
  }

  /** Returns the word after its space, or after a line break if it does not fit. */
  private appendWord(word: string): string {
    const [gap, width] = [stringWidth(this.space), stringWidth(word)]
    const isFirst = this.column <= stringWidth(this.hang)
    const fits = this.column + gap + width <= this.width
    const prefix = fits || isFirst ? this.space : `\n${this.hang}`
    this.column = fits || isFirst ? this.column + gap + width : stringWidth(this.hang) + width
    this.space = ''
    return prefix + word
  }
}

/** Creates a wrapper for an answer or report in Markdown: code and tables are not wrapped, list items hang. */
export function createProseWrapper(width: number): ProseWrapper {
  let isCode = false
  return new ProseWrapper(width, (line) => {
    const isFence = /^ {0,3}(```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    if (isFence || isCode || /^( {4}|\t|\s*\|)/.test(line)) return undefined
    const [quote = ''] = /^\s*(?:> ?)+/.exec(line) ?? []
    const [marker = ''] = /^\s*(?:(?:[-*+]|\d{1,3}[.)]) +)?/.exec(line.slice(quote.length)) ?? []
    return { head: quote + marker, hang: quote + ' '.repeat(marker.length) }
  })
}

/** Wraps lines of a command's output: continuation lines hang below the text after a label, else keep the indent. */
export function wrapLines(text: string, width: number): string {
  const wrapper = new ProseWrapper(width, (line) => {
    const [label] = /^\s*\S+(?: \S+){0,2}? {2,}(?=\S)/.exec(line) ?? []
    const [indent = ''] = /^\s*/.exec(line) ?? []
    const head = label !== undefined && stringWidth(label) <= width / 2 ? label : indent
    return { head, hang: ' '.repeat(stringWidth(head)) }
  })
  return wrapper.push(text) + wrapper.end()
}
