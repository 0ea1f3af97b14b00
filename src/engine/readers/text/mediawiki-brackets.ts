import { readWikiLink } from './mediawiki-links.js'
import { readWikiTemplate } from './mediawiki-templates.js'

/** A page after its templates and links were replaced by their text. */
export interface ReplacedWiki {
  text: string
  /** fields of infoboxes, `name: value` */
  fields: string[]
  categories: string[]
  /** number of templates whose text is not known, because other pages define it */
  omittedTemplates: number
}

/** Deeper marks are text. */
const MAX_DEPTH = 100
const MAX_CATEGORIES = 100
const TOKEN = /\{\{\{?|\}\}\}?|\[\[|\]\]|\{\||\|\}|\|/g

type OpenKind = '{{{' | '{{' | '[[' | '{|'

interface OpenMark {
  kind: OpenKind
  /** offset in the source */
  start: number
  /** parts between bars, each as a list of texts */
  parts: string[][]
}

/**
 * Replaces templates, parameters and links from the inside outwards in one pass, whatever their nesting. A table within
 * a template keeps its bars; marks that are never closed stay as text.
 */
export function replaceWikiBrackets(source: string): ReplacedWiki {
  return new BracketReader(source).read()
}

class BracketReader {
  readonly #source: string
  readonly #fields: string[] = []
  readonly #categories: string[] = []
  readonly #output: string[] = []
  readonly #open: OpenMark[] = []
  #omittedTemplates = 0

  constructor(source: string) {
    this.#source = source
  }

  read(): ReplacedWiki {
    let offset = 0
    const pattern = new RegExp(TOKEN)
    for (let match = pattern.exec(this.#source); match !== null; match = pattern.exec(this.#source)) {
      this.#add(this.#source.slice(offset, match.index))
      offset = match.index + this.#readToken(match[0], match.index)
      pattern.lastIndex = offset
    }
    this.#add(this.#source.slice(offset))
    while (this.#open.length > 0) this.#dissolve()
    return {
      text: this.#output.join(''),
      fields: this.#fields,
      categories: this.#categories,
      omittedTemplates: this.#omittedTemplates,
    }
  }

  #add(text: string): void {
    if (text === '') return
    const parts = this.#open.at(-1)?.parts
    if (parts === undefined) this.#output.push(text)
    else parts.at(-1)?.push(text)
  }

  /** @returns the length of the token that was read */
  #readToken(token: string, offset: number): number {
    const top = this.#open.at(-1)
    if (token === '|') {
      if (top === undefined || top.kind === '{|') this.#add('|')
      else top.parts.push([])
      return 1
    }
    if (token.startsWith('{') || token === '[[') return this.#openMark(token, offset)
    if (token === '|}') {
      // `|}}` ends a template whose last part is empty.
      const isTable = top?.kind === '{|' || this.#source.charAt(offset + 2) !== '}'
      if (isTable && this.#open.some(({ kind }) => kind === '{|')) this.#close('{|')
      else if (top === undefined) this.#add('|}')
      else {
        top.parts.push([])
        return 1
      }
      return 2
    }
    if (token === ']]') {
      const last = top?.parts.at(-1)?.join('') ?? ''
      // The first bracket of `]]]` may end an address in the link.
      if (this.#source.charAt(offset + 2) === ']' && last.lastIndexOf('[') > last.lastIndexOf(']')) {
        this.#add(']')
        return 1
      }
      if (top?.kind === '[[') this.#close('[[', offset)
      else this.#add(']]')
      return 2
    }
    if (token === '}}}' && top?.kind === '{{{') {
      this.#close('{{{')
      return 3
    }
    if (this.#open.some(({ kind }) => kind === '{{')) this.#close('{{')
    else this.#add('}}')
    return 2
  }

  /** @returns the length of the token */
  #openMark(token: string, offset: number): number {
    // Only a table in a template is replaced with it; others are read line by line.
    if (this.#open.length >= MAX_DEPTH || (token === '{|' && this.#open.length === 0)) this.#add(token)
    else {
      const kind = token === '{{{' || token === '{{' || token === '{|' ? token : '[['
      this.#open.push({ kind, start: offset, parts: [[]] })
    }
    return token.length
  }

  /** Closes the last open mark of a kind; those opened after it were never closed. @param end offset of its end */
  #close(kind: OpenKind, end = 0): void {
    while (this.#open.length > 0 && this.#open.at(-1)?.kind !== kind) this.#dissolve()
    const mark = this.#open.pop()
    if (mark === undefined) return
    const parts = mark.parts.map((texts) => texts.join(''))
    if (kind === '{|') this.#add(`{|${parts.join('|')}|}`)
    else if (kind === '{{{') this.#add(parts[1] ?? '')
    else if (kind === '[[') this.#addLink(parts, mark.start, end)
    else {
      const { text, fields, isOmitted } = readWikiTemplate(parts)
      for (const field of fields) this.#fields.push(field)
      if (isOmitted) this.#omittedTemplates++
      this.#add(text)
    }
  }

  #addLink(parts: readonly string[], start: number, end: number): void {
    const isFirst = this.#open.length === 0 && (start === 0 || this.#source.charAt(start - 1) === '\n')
    const isAlone = isFirst && /^\]\][ \t]*(?:\n|$)/.test(this.#source.slice(end, end + 100))
    const { text, category, isCaption } = readWikiLink(parts, { isAlone })
    if (category !== undefined && this.#categories.length < MAX_CATEGORIES) this.#categories.push(category)
    this.#add(isCaption === true && isFirst && text !== '' ? `${text.replace(/\s*\n\s*/g, ' ')}\n\n` : text)
  }

  /** Turns the last open mark to text. */
  #dissolve(): void {
    const mark = this.#open.pop()
    if (mark === undefined) return
    const text = mark.parts.map((texts) => texts.join('')).join('|')
    this.#add(mark.kind === '{|' ? `{|${text}` : text)
  }
}
