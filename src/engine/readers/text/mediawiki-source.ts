import { decodeHTML } from 'entities'
import type { Block } from '../parsed.js'
import { replaceWikiBrackets } from './mediawiki-brackets.js'

/** A page without comments, references, templates and links; content that must not change is kept separately. */
export interface WikiSource {
  text: string
  /** fields of infoboxes, `name: value` */
  fields: string[]
  categories: string[]
  /** what is left out, with counts */
  warnings: string[]
  /** The kept block for the line that is its placeholder. */
  findKeptBlock(line: string): Block | undefined
  /** Converts a line of markup to text: without marks of bold and italics, tags and addresses. */
  toText(line: string): string
}

/** Mark placeholders of blocks and of text in a line. */
const BLOCK_MARK = '\u0001'
const TEXT_MARK = '\u0002'
/** A longer reference is one that is never closed. */
const MAX_REFERENCE_LENGTH = 20_000
const ATTRIBUTES = '(?:\\s(?:"[^"\\n]{0,500}"|\'[^\'\\n]{0,500}\'|[^<>"\']){0,500}|\\s[^<>]{0,500})?'

/** Elements whose content is not markup: code, formulas, displayed markup, drawings; and those whose lines are items. */
const RAW_ELEMENT = new RegExp(
  `<(syntaxhighlight|source|pre|math|chem|ce|nowiki|gallery|poem|imagemap|timeline|graph|templatedata|mapframe|maplink|score|hiero|templatestyles|indicator)(${ATTRIBUTES})>`,
  'gi',
)
const CODE_ELEMENT = /^(?:syntaxhighlight|source|pre)$/
const FORMULA_ELEMENT = /^(?:math|chem|ce)$/

export function prepareWikiSource(source: string): WikiSource {
  const kept = new KeptContent()
  const plain = removeComments(unescapeMarkup(source.replace(/[\u0001\u0002]/g, '')))
  const { text: withoutReferences, count } = removeReferences(extractRaw(plain, kept))
  const { text, fields, categories, omittedTemplates } = replaceWikiBrackets(withoutReferences)
  const omitted = [
    [count, 'references'],
    [omittedTemplates, 'templates'],
  ].flatMap(([number, name]) => (number === 0 ? [] : [`${name}: ${number}`]))
  const toText = (line: string): string => wikiToText(line, kept)
  return {
    text,
    fields: fields.map(toText),
    categories,
    warnings: omitted.length === 0 ? [] : [`left out: ${omitted.join(', ')}`],
    findKeptBlock: (line) => kept.findBlock(line),
    toText,
  }
}

/** Decodes a page that was copied from an export, whose tags are character references. */
function unescapeMarkup(source: string): string {
  return source.includes('&lt;ref') && !source.includes('<ref') ? decodeHTML(source) : source
}

/** Content that does not change, for which the text has placeholders. */
class KeptContent {
  readonly #blocks: Block[] = []
  readonly #texts: string[] = []

  addBlock(block: Block): string {
    this.#blocks.push(block)
    return `\n${BLOCK_MARK}${this.#blocks.length - 1}${BLOCK_MARK}\n`
  }

  addText(text: string): string {
    this.#texts.push(text)
    return `${TEXT_MARK}${this.#texts.length - 1}${TEXT_MARK}`
  }

  findBlock(line: string): Block | undefined {
    const number = /^\s*\u0001(\d{1,9})\u0001\s*$/.exec(line)?.[1]
    return number === undefined ? undefined : this.#blocks[Number(number)]
  }

  /** Replaces the placeholders in a text by their content. */
  restore(text: string): string {
    if (!/[\u0001\u0002]/.test(text)) return text
    return text
      .replace(/\u0002(\d{1,9})\u0002/g, (_all, number: string) => this.#texts[Number(number)] ?? '')
      .replace(/\u0001(\d{1,9})\u0001/g, (_all, number: string) => this.#blocks[Number(number)]?.text ?? '')
  }
}

function removeComments(source: string): string {
  const parts: string[] = []
  let copied = 0
  for (let index = source.indexOf('<!--'); index !== -1; index = source.indexOf('<!--', copied)) {
    parts.push(source.slice(copied, index))
    const end = source.indexOf('-->', index)
    if (end === -1) return parts.join('')
    copied = end + 3
  }
  parts.push(source.slice(copied))
  return parts.join('')
}

/** Removes references with their content, those within others included. */
function removeReferences(text: string): { text: string; count: number } {
  const parts: string[] = []
  const pattern = new RegExp(`<(/?)ref(?=[\\s>/])${ATTRIBUTES}/?>`, 'gi')
  let depth = 0
  let copied = 0
  let count = 0
  for (const tag of text.matchAll(pattern)) {
    const end = tag.index + tag[0].length
    // A reference that was never closed is text.
    if (depth > 0 && tag.index - copied > MAX_REFERENCE_LENGTH) depth = 0
    if (depth === 0) parts.push(text.slice(copied, tag.index))
    if (tag[1] === '/') depth = Math.max(0, depth - 1)
    else if (!tag[0].endsWith('/>')) depth++
    if (tag[1] !== '/' && depth <= 1) count++
    if (depth === 0 || (depth === 1 && tag[1] !== '/')) copied = end
  }
  parts.push(text.slice(copied))
  return { text: parts.join(''), count }
}

/** Takes out code and formulas; short ones stay in their line. */
function extractRaw(text: string, kept: KeptContent): string {
  const parts: string[] = []
  const unclosed = new Set<string>()
  let copied = 0
  RAW_ELEMENT.lastIndex = 0
  for (let found = RAW_ELEMENT.exec(text); found !== null; found = RAW_ELEMENT.exec(text)) {
    const name = (found[1] ?? '').toLowerCase()
    const start = found.index + found[0].length
    const closing = new RegExp(`</${name}\\s*>`, 'gi')
    closing.lastIndex = start
    const end = unclosed.has(name) || found[0].endsWith('/>') ? null : closing.exec(text)
    if (end === null) {
      if (!found[0].endsWith('/>')) unclosed.add(name)
      continue
    }
    parts.push(text.slice(copied, found.index), replaceRaw(name, found[2] ?? '', text.slice(start, end.index), kept))
    copied = closing.lastIndex
    RAW_ELEMENT.lastIndex = copied
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

function replaceRaw(name: string, attributes: string, body: string, kept: KeptContent): string {
  if (FORMULA_ELEMENT.test(name)) return kept.addText(`$${body.trim()}$`)
  if (name === 'nowiki') return kept.addText(decodeHTML(body))
  if (name === 'poem') return body.replace(/\n/g, '<br>')
  if (name === 'gallery') return `\n${body.split('\n').map(toGalleryItem).join('')}`
  if (name === 'imagemap') return body.replace(/^(?:rect|circle|poly|default)\s[\d\s]*/gm, '* ')
  if (!CODE_ELEMENT.test(name)) return ''
  if (!body.includes('\n')) return kept.addText(body)
  const language = /lang\s*=\s*["']?([\w+#-]{1,30})/i.exec(attributes)?.[1]
  return kept.addBlock({ type: 'code', text: body, ...(language === undefined ? {} : { metadata: { language } }) })
}

/** The caption of a picture of a gallery, `File:a.jpg|caption`. */
function toGalleryItem(line: string): string {
  const caption = line.slice(line.indexOf('|') + 1)
  return line.includes('|') && caption.trim() !== ''
    ? `* ${caption.replace(/^(?:alt|link)=[^|]{0,300}\|/i, '').trim()}\n`
    : ''
}

function wikiToText(source: string, kept: KeptContent): string {
  let text = source
  if (text.includes('['))
    text = text.replace(
      /\[(?:[a-z][a-z0-9+.-]{1,20}:)?(?:\/\/|(?<=(?:mailto|tel|news|urn|sip|geo):))[^\s[\]]{1,1000}(?:\s([^[\]\n]{0,500}))?\]/gi,
      (_all, words?: string) => words ?? '',
    )
  return kept
    .restore(
      decodeHTML(
        text
          .replace(/'{2,5}/g, '')
          .replace(/<br\s{0,5}\/?>/gi, ' ')
          .replace(/<\/?[a-zA-Z][^<>]{0,2000}>/g, '')
          .replace(/__[\p{Lu}\p{Lo}_]{3,40}__/gu, '')
          .replace(/-\{(?:[^{}|]{0,100}\|)?([^{}]{0,500})\}-/g, (_all, words: string) => toVariant(words)),
      ),
    )
    .replace(/\s+/g, ' ')
    .trim()
}

/** The first of the words for the variants of a language, `zh-hans:…; zh-hant:…`. */
function toVariant(words: string): string {
  return /^\s*[a-z-]{2,12}\s*:([^;]*)/.exec(words)?.[1]?.trim() ?? words
}
