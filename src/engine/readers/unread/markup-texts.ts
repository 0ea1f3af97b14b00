import { decodeHTML, decodeXML } from 'entities/decode'
import type { MarkupSyntax } from '../markup/markup-events.js'
import type { FileText, ParserInput } from '../parsed.js'
import { SEAM } from './word-counts.js'

/** A file whose words are counted. */
export type CountedFile = Omit<ParserInput, 'inside' | 'ocr'>

/** What an element does to the text in it. */
export interface ElementRule {
  /** words continue over its tags, or end there, or the text ends there */
  edge: 'join' | 'space' | 'block'
  /** the construct that its text belongs to */
  construct?: string
  /** its text is not counted */
  isSkipped?: boolean
}

export interface MarkupRules {
  syntax: MarkupSyntax
  /** construct of texts in elements without one */
  construct: string
  /** @param name without a prefix, in lower case in HTML; @param tag as the source has it */
  getRule(name: string, tag: string): ElementRule
}

const CDATA = '<![CDATA['
const DECLARATIONS = [
  ['<!--', '-->'],
  [CDATA, ']]>'],
  ['<?', '?>'],
] as const
/** What is usually before the `>` of a tag with attributes: a quote, `/`, white space. */
const TAG_ENDS = new Set([0x22, 0x27, 0x2f, 0x20, 0x0a])
/** Small integers are fast keys. */
const HASH_MASK = 0x3fffffff
const RAW_TEXT_ENDS = new Map([
  ['script', /<\/script/gi],
  ['style', /<\/style/gi],
])

/**
 * Finds the texts of an XML or HTML source without the tokenizer that the readers use: what is lost there must be found
 * here. Takes linear time.
 */
export function findMarkupTexts(source: string, rules: MarkupRules, visit: (text: FileText) => void): void {
  new MarkupScanner(source, rules, visit).scan()
}

class MarkupScanner {
  readonly #source: string
  readonly #rules: MarkupRules
  readonly #visit: (text: FileText) => void
  /** by a hash of the tag's name: names are compared for each tag, and few are new */
  readonly #known = new Map<number, { name: string; rule: ElementRule }>()
  /** open elements with a construct, and those whose text is skipped */
  readonly #open: { name: string; rule: ElementRule; outer: string }[] = []
  #skippedDepth = 0
  #construct: string
  #textConstruct: string
  #text = ''
  #gap = ''

  constructor(source: string, rules: MarkupRules, visit: (text: FileText) => void) {
    this.#source = source
    this.#rules = rules
    this.#visit = visit
    this.#construct = rules.construct
    this.#textConstruct = rules.construct
  }

  scan(): void {
    const source = this.#source
    let index = 0
    while (index < source.length) {
      const tag = source.indexOf('<', index)
      this.#addText(index, tag === -1 ? source.length : tag)
      if (tag === -1) break
      index = this.#readTag(tag)
    }
    this.#flush()
  }

  /** @returns the index after the tag */
  #readTag(tag: number): number {
    const source = this.#source
    const next = source.charCodeAt(tag + 1)
    if (next === 0x21 || next === 0x3f) return this.#readDeclaration(tag)
    const isClosing = next === 0x2f
    const start = isClosing ? tag + 2 : tag + 1
    let nameEnd = start
    let hash = 0
    for (let code = source.charCodeAt(start); !isNameEnd(code); code = source.charCodeAt(++nameEnd))
      hash = (Math.imul(hash, 31) + code) & HASH_MASK
    if (nameEnd === start) return tag + 1
    const { name, rule } = this.#known.get(hash) ?? this.#learn(hash, source.slice(start, nameEnd))
    const end = isClosing ? source.indexOf('>', nameEnd) : findTagEnd(source, nameEnd)
    if (end === -1) return source.length
    if (rule.edge === 'block') this.#flush()
    else if (rule.edge === 'space') this.#gap = ' '
    else if (this.#gap === '') this.#gap = SEAM
    if (isClosing) this.#close(name)
    else if (source.charCodeAt(end - 1) !== 0x2f || this.#rules.syntax === 'html') this.#push(name, rule)
    if (!isClosing && this.#rules.syntax === 'html') return this.#skipRawText(name, end + 1)
    return end + 1
  }

  #skipRawText(name: string, index: number): number {
    const pattern = RAW_TEXT_ENDS.get(name)
    if (pattern === undefined) return index
    pattern.lastIndex = index
    return pattern.exec(this.#source)?.index ?? this.#source.length
  }

  #readDeclaration(tag: number): number {
    const source = this.#source
    const [open, close] = DECLARATIONS.find(([start]) => source.startsWith(start, tag)) ?? ['<', '>']
    const end = source.indexOf(close, tag + open.length)
    if (open === CDATA) this.#addText(tag + open.length, end === -1 ? source.length : end, false)
    return end === -1 ? source.length : end + close.length
  }

  #learn(hash: number, tag: string): { name: string; rule: ElementRule } {
    const local = tag.slice(tag.indexOf(':') + 1)
    const name = this.#rules.syntax === 'xml' ? local : local.toLowerCase()
    const learned = { name, rule: this.#rules.getRule(name, tag) }
    this.#known.set(hash, learned)
    return learned
  }

  #push(name: string, rule: ElementRule): void {
    if (rule.construct === undefined && rule.isSkipped !== true) return
    this.#open.push({ name, rule, outer: this.#construct })
    this.#construct = rule.construct ?? this.#construct
    if (rule.isSkipped === true) this.#skippedDepth++
  }

  #close(name: string): void {
    const open = this.#open.at(-1)
    if (open?.name !== name) return
    this.#open.pop()
    this.#construct = open.outer
    if (open.rule.isSkipped === true) this.#skippedDepth--
  }

  #addText(start: number, end: number, hasReferences = true): void {
    if (start >= end || this.#skippedDepth > 0) return
    if (this.#construct !== this.#textConstruct) this.#flush()
    const source = this.#source.slice(start, end)
    const decode = this.#rules.syntax === 'xml' ? decodeXML : decodeHTML
    this.#text += this.#gap + (hasReferences && source.includes('&') ? decode(source) : source)
    this.#gap = ''
  }

  #flush(): void {
    if (this.#text.trim() !== '') this.#visit({ text: this.#text, construct: this.#textConstruct })
    this.#text = ''
    this.#textConstruct = this.#construct
    this.#gap = ''
  }
}

/** White space, `/`, `>`, and `NaN` behind the end. */
function isNameEnd(code: number): boolean {
  return !(code > 0x20) || code === 0x2f || code === 0x3e
}

/** The index of the `>` of a tag, which may also be in its quoted values; -1 without one. */
function findTagEnd(source: string, start: number): number {
  const first = source.indexOf('>', start)
  if (first <= start || TAG_ENDS.has(source.charCodeAt(first - 1))) return first
  let index = start
  for (; index < source.length; index++) {
    const code = source.charCodeAt(index)
    if (code === 0x3e) return index
    if (code !== 0x22 && code !== 0x27) continue
    const close = source.indexOf(code === 0x22 ? '"' : "'", index + 1)
    if (close === -1) return first
    index = close
  }
  return -1
}
