import { decodeEntities } from './entities.js'
import type { Picture } from './parsed.js'

/** A link target is looked for this far and no further, so that `](` without end costs linear time. */
const MAX_TARGET = 1000

/** Characters that can start markup; text without any of them is returned as it is. */
const MARKUP = /[\\`*_~[\]<&]/

const PUNCTUATION = /[!-/:-@[-`{-~]/

interface Opener {
  /** place in the output that holds the marker */
  slot: number
  marker: string
  /** where the marker stands in the source */
  position: number
}

/**
 * Markdown inline markup reduced to its text in one pass: link text and picture descriptions stay, targets, emphasis
 * marks, tags and comments go, code spans keep their content. Marks without a partner are text.
 *
 * @param pictures receives what `![…](target)` points to
 */
export function inlineText(source: string, pictures?: Picture[]): string {
  return MARKUP.test(source) ? new InlineReader(source, pictures).read() : source
}

class InlineReader {
  readonly #source: string
  readonly #pictures: Picture[] | undefined
  readonly #out: string[] = []
  readonly #brackets: Opener[] = []
  readonly #emphasis: Opener[] = []
  #tickRuns: Map<number, number[]> | undefined
  readonly #lastCommentEnd: number
  #at = 0

  constructor(source: string, pictures: Picture[] | undefined) {
    this.#source = source
    this.#lastCommentEnd = source.lastIndexOf('-->')
    this.#pictures = pictures
  }

  read(): string {
    const source = this.#source
    let plain = 0
    while (this.#at < source.length) {
      const char = source.charAt(this.#at)
      if (!MARKUP.test(char) && char !== '!') {
        this.#at++
        continue
      }
      if (this.#at > plain) this.#out.push(source.slice(plain, this.#at))
      this.#markup(char)
      plain = this.#at
    }
    if (plain < source.length) this.#out.push(source.slice(plain))
    return this.#out.join('')
  }

  #markup(char: string): void {
    if (char === '\\') this.#escape()
    else if (char === '`') this.#code()
    else if (char === '[' || char === '!') this.#openBracket(char)
    else if (char === ']') this.#closeBracket()
    else if (char === '<') this.#tag()
    else if (char === '&') this.#entity()
    else this.#mark(char)
  }

  #take(text: string, length: number): void {
    this.#out.push(text)
    this.#at += length
  }

  #escape(): void {
    const next = this.#source.charAt(this.#at + 1)
    if (next !== '' && PUNCTUATION.test(next)) this.#take(next, 2)
    else this.#take('\\', 1)
  }

  #code(): void {
    const length = runLength(this.#source, this.#at)
    const close = this.#closingTicks(length, this.#at + length)
    if (close === undefined) {
      this.#take('`'.repeat(length), length)
      return
    }
    const code = this.#source.slice(this.#at + length, close)
    this.#take(code.length > 2 && code.startsWith(' ') && code.endsWith(' ') ? code.slice(1, -1) : code, 0)
    this.#at = close + length
  }

  /** Where the next run of exactly `length` backticks is; all runs are listed once, so this stays linear. */
  #closingTicks(length: number, from: number): number | undefined {
    if (this.#tickRuns === undefined) {
      this.#tickRuns = new Map()
      for (let i = this.#source.indexOf('`'); i !== -1; ) {
        const size = runLength(this.#source, i)
        const places = this.#tickRuns.get(size) ?? []
        places.push(i)
        this.#tickRuns.set(size, places)
        i = this.#source.indexOf('`', i + size)
      }
      for (const places of this.#tickRuns.values()) places.reverse()
    }
    const places = this.#tickRuns.get(length) ?? []
    for (let place = places.at(-1); place !== undefined; place = places.at(-1)) {
      if (place >= from) return place
      places.pop()
    }
    return undefined
  }

  #openBracket(char: string): void {
    const picture = char === '!'
    if (picture && this.#source.charAt(this.#at + 1) !== '[') {
      this.#take('!', 1)
      return
    }
    const marker = picture ? '![' : '['
    this.#brackets.push({ slot: this.#out.length, marker, position: this.#at })
    this.#take(marker, marker.length)
  }

  #closeBracket(): void {
    const opener = this.#brackets.pop()
    if (opener === undefined) {
      this.#take(']', 1)
      return
    }
    const source = this.#source
    const next = source.charAt(this.#at + 1)
    if (next === '(') {
      const end = targetEnd(source, this.#at + 2)
      if (end === -1) {
        this.#take(']', 1)
        return
      }
      this.#out[opener.slot] = ''
      if (opener.marker === '![') this.#picture(source.slice(this.#at + 2, end))
      this.#at = end + 1
    } else if (next === '[') {
      const end = source.slice(this.#at + 2, this.#at + 2 + MAX_TARGET).indexOf(']')
      if (end === -1) {
        this.#take(']', 1)
        return
      }
      this.#out[opener.slot] = ''
      this.#at += end + 3
    } else if (next === ']' && source.charAt(opener.position - 1) === '[') {
      this.#wikiLink(opener)
    } else {
      this.#take(']', 1)
    }
  }

  /** `[[Page|shown]]` is `shown`, `[[Page]]` is `Page`. */
  #wikiLink(inner: Opener): void {
    const outer = this.#brackets.pop()
    const inside = this.#out.splice(inner.slot + 1).join('')
    this.#out[inner.slot] = inside.slice(inside.lastIndexOf('|') + 1)
    if (outer !== undefined) this.#out[outer.slot] = ''
    while ((this.#emphasis.at(-1)?.slot ?? -1) > inner.slot) this.#emphasis.pop()
    this.#at += 2
  }

  #picture(target: string): void {
    const uri = target.trim().replace(/^<|>$/g, '').split(/[\s>]/, 1)[0] ?? ''
    if (uri !== '') this.#pictures?.push({ uri })
  }

  /** `<https://…>` keeps its address; `<br>` is a line end; other tags and comments vanish; a lone `<` stays. */
  #tag(): void {
    const rest = this.#source.slice(this.#at, this.#at + MAX_TARGET)
    if (rest.startsWith('<!--') && this.#at < this.#lastCommentEnd) {
      this.#at = this.#source.indexOf('-->', this.#at) + 3
      return
    }
    const link = /^<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>/.exec(rest)
    if (link !== null) {
      this.#take(link[1] ?? '', link[0].length)
      return
    }
    const tag = /^<\/?([a-zA-Z][a-zA-Z0-9-]*)(?:\s[^<>]*)?\/?>/.exec(rest)
    if (tag === null) {
      this.#take('<', 1)
      return
    }
    const name = tag[1]?.toLowerCase()
    const separates = name === 'td' || name === 'th' || name === 'p' || name === 'div' || name === 'li'
    this.#take(name === 'br' || name === 'tr' ? '\n' : separates ? ' ' : '', tag[0].length)
  }

  #entity(): void {
    const found = /^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});/.exec(
      this.#source.slice(this.#at, this.#at + 34),
    )
    if (found === null) {
      this.#take('&', 1)
      return
    }
    this.#take(decodeEntities(found[0]), found[0].length)
  }

  /** Emphasis and strike-through: a closing run removes itself and the nearest open run of the same mark. */
  #mark(char: string): void {
    const length = runLength(this.#source, this.#at)
    const before = this.#source.charAt(this.#at - 1)
    const after = this.#source.charAt(this.#at + length)
    const marker = char.repeat(length)
    const [opens, closes] = flanks(before, after)
    const inWord = char !== '*' && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after)
    if (length <= 3 && !inWord && closes) {
      const opener = this.#emphasis.at(-1)
      if (opener !== undefined && opener.marker === marker) {
        this.#emphasis.pop()
        this.#out[opener.slot] = ''
        this.#take('', length)
        return
      }
    }
    const candidate = length <= 3 && !inWord && opens && (char !== '~' || length === 2)
    if (candidate) this.#emphasis.push({ slot: this.#out.length, marker, position: this.#at })
    this.#take(marker, length)
  }
}

/** Whether a run of marks between two characters can open and can close emphasis (CommonMark 0.31, section 6.2). */
function flanks(before: string, after: string): [boolean, boolean] {
  const spaceBefore = before === '' || /\s/.test(before)
  const spaceAfter = after === '' || /\s/.test(after)
  const markBefore = /[\p{P}\p{S}]/u.test(before)
  const markAfter = /[\p{P}\p{S}]/u.test(after)
  return [
    !spaceAfter && (!markAfter || spaceBefore || markBefore),
    !spaceBefore && (!markBefore || spaceAfter || markAfter),
  ]
}

function runLength(source: string, start: number): number {
  const char = source.charAt(start)
  let end = start + 1
  while (source.charAt(end) === char) end++
  return end - start
}

/** The `)` that ends a link target starting at `start`, or -1. */
function targetEnd(source: string, start: number): number {
  let depth = 0
  const limit = Math.min(source.length, start + MAX_TARGET)
  for (let i = start; i < limit; i++) {
    const char = source.charAt(i)
    if (char === '\\') i++
    else if (char === '\n' && source.charAt(i + 1) === '\n') return -1
    else if (char === '(') depth++
    else if (char === ')' && depth-- === 0) return i
  }
  return -1
}
