import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { DroppedElementTracker } from './dropped-element.js'
import { readHtml } from './html.js'
import { type Attributes, escapeMarkup, getLocalName, type MarkupHandler, readMarkup } from './markup-events.js'
import { getPaperVocabulary, type PaperVocabulary } from './paper-vocabularies.js'

/** Deeper elements are text of the elements around them. */
const MAX_DEPTH = 400
const MAX_FACT_LENGTH = 1000
const MAX_AUTHORS = 500
const MAX_KEYWORDS = 100

const AUTHOR_ELEMENTS = new Set(['contrib', 'author'])
const GIVEN_NAME_ELEMENTS = new Set(['given-names', 'forename', 'firstname', 'othername', 'first-name', 'middle-name'])
const FAMILY_NAME_ELEMENTS = new Set(['surname', 'last-name'])
const FULL_NAME_ELEMENTS = new Set(['string-name', 'collab', 'orgname', 'persName', 'personname', 'name'])

/**
 * Reads papers, manuals and books in XML (JATS, TEI, DocBook, FictionBook): sections, tables, lists, code, references,
 * authors and date.
 */
export const paperParser: Parser = {
  parse: parsePaper,
}

function parsePaper(input: ParserInput): ParsedDocument {
  const reader = new PaperReader(getPaperVocabulary(input.mediaType))
  readMarkup(input.text(), reader, 'xml')
  const { html, metadata, title, language } = reader.finish()
  const { blocks } = readHtml(html, { tables: 'data' })
  if (!blocks.some((block) => block.text !== '')) throw new ReadError('empty', `${input.filename} has no text`)
  return {
    parser: 'native-structured',
    contentType: 'text',
    ...omitUndefined({ title, language }),
    blocks,
    metadata,
  }
}

interface OpenPaperElement {
  name: string
  /** name of the HTML element to close */
  tag: string
}

/** Converts the elements for readers to HTML, in one pass. */
class PaperReader implements MarkupHandler {
  readonly #vocabulary: PaperVocabulary
  readonly #open: OpenPaperElement[] = []
  readonly #parts: string[] = []
  readonly #dropped = new DroppedElementTracker()
  readonly #facts = new Map<string, string[]>()
  readonly #authors = new Set<string>()
  /** year, month and day of the date, in any order */
  readonly #date = new Map<string, string>()
  #skippedDepth = 0
  #sections = 0
  #inHead = 0
  #inReference = 0
  #heads = 0
  #inReferenceList = false
  /** title of a section that has no title yet */
  #untitled = ''
  #author: { given: string; family: string; full: string } | undefined
  #language: string | undefined

  constructor(vocabulary: PaperVocabulary) {
    this.#vocabulary = vocabulary
  }

  open(qualifiedName: string, attributes: Attributes): void {
    const name = getLocalName(qualifiedName)
    if (this.#dropped.open(name, this.#vocabulary.dropped.has(name))) return
    if (this.#open.length >= MAX_DEPTH) {
      this.#skippedDepth++
      return
    }
    if (this.#open.length === 0) this.#language = attributes.get('xml:lang') ?? attributes.get('lang')
    const tag = this.#getTag(name, attributes)
    if (name === 'lb' && !this.#isHidden()) this.#parts.push('<br>')
    if (tag !== '' && !this.#isHidden()) this.#write(`<${tag}>`)
    this.#open.push({ name, tag: tag.split(' ', 1).join('') })
  }

  close(qualifiedName: string): void {
    const name = getLocalName(qualifiedName)
    if (this.#dropped.close(name)) return
    if (this.#skippedDepth > 0) {
      this.#skippedDepth--
      return
    }
    const closed = this.#open.pop()
    if (closed === undefined) return
    if (closed.tag !== '' && !this.#isHidden()) this.#parts.push(`</${closed.tag}>`)
    const vocabulary = this.#vocabulary
    if (this.#inReference > 0) this.#parts.push(' ')
    if (vocabulary.sections.has(closed.name)) {
      this.#endReferences()
      this.#sections = Math.max(0, this.#sections - 1)
    }
    if (vocabulary.heads.has(closed.name)) this.#inHead = Math.max(0, this.#inHead - 1)
    if (vocabulary.references.has(closed.name)) this.#inReference = Math.max(0, this.#inReference - 1)
    if (AUTHOR_ELEMENTS.has(closed.name)) this.#endAuthor()
  }

  text(text: string): void {
    if (this.#dropped.isActive) return
    const name = this.#open.at(-1)?.name ?? ''
    if (this.#inHead > 0) this.#addFactText(name, text)
    if (this.#isHidden() || this.#open.length === 0) return
    if (text.trim() === '') this.#parts.push(text)
    else this.#write(escapeMarkup(text))
  }

  finish(): {
    html: string
    title: string | undefined
    language: string | undefined
    metadata: Record<string, unknown>
  } {
    const first = (key: string): string | undefined => collapseText(this.#facts.get(key)?.[0])
    const title = first('title')
    const authors = [...this.#authors].slice(0, MAX_AUTHORS)
    const parts = ['year', 'month', 'day'].map((part) => this.#date.get(part)).filter((part) => part !== undefined)
    const created = first('created') ?? collapseText(this.#date.has('year') ? parts.join('-') : undefined)
    const keywords = (this.#facts.get('keywords') ?? [])
      .flatMap((word) => collapseText(word) ?? [])
      .slice(0, MAX_KEYWORDS)
    const head = [
      title === undefined ? '' : `<h1>${escapeMarkup(title)}</h1>`,
      authors.length === 0 ? '' : `<p>${escapeMarkup(authors.join(', '))}</p>`,
      keywords.length === 0 ? '' : `<p>Keywords: ${escapeMarkup(keywords.join(', '))}</p>`,
    ]
    return {
      html: head.join('') + this.#parts.join(''),
      title,
      language: first('language') ?? this.#language,
      metadata: {
        ...(authors.length === 0 ? {} : { authors }),
        ...omitUndefined({ created, journal: first('journal') }),
        ...(keywords.length === 0 ? {} : { keywords }),
      },
    }
  }

  /** Whether text is hidden: in the head, only the abstract is part of the text. */
  #isHidden(): boolean {
    return this.#inHead > 0 && this.#sections === this.#heads
  }

  #getTag(name: string, attributes: Attributes): string {
    const vocabulary = this.#vocabulary
    if (vocabulary.heads.has(name)) {
      if (this.#inHead++ === 0) this.#heads = this.#sections
      return ''
    }
    const section = vocabulary.sections.get(name)
    if (section !== undefined) {
      this.#sections++
      this.#untitled = section
      return ''
    }
    if (this.#inHead > 0 && AUTHOR_ELEMENTS.has(name)) this.#author = { given: '', family: '', full: '' }
    if (vocabulary.facts.has(name) && this.#inHead > 0) this.#beginFact(name, attributes)
    if (vocabulary.references.has(name)) {
      this.#inReference++
      if (this.#inReference > 1 || this.#isHidden()) return ''
      if (!this.#inReferenceList) this.#write('<ul>')
      this.#inReferenceList = true
      return 'li'
    }
    if (this.#inReference > 0) return ''
    if (vocabulary.titles.has(name)) return this.#getTitleTag()
    if (vocabulary.code.has(name) || (name === 'ab' && attributes.get('type')?.includes('code') === true))
      return this.#isCodeBlock() ? `pre class="language-${getDeclaredLanguage(attributes)}"` : ''
    // Titles of books in FictionBook consist of paragraphs.
    if (vocabulary.paragraphs.has(name) && /^h\d$/.test(this.#open.at(-1)?.tag ?? '')) return ''
    const header = this.#open.some((element) => element.name === 'thead') && name === 'entry'
    return header ? 'th' : (vocabulary.html.get(name) ?? (vocabulary.paragraphs.has(name) ? 'p' : ''))
  }

  /** Whether a code element is a block; code within a line stays there. */
  #isCodeBlock(): boolean {
    const parentName = this.#open.at(-1)?.name ?? ''
    return !(this.#vocabulary.paragraphs.has(parentName) && parentName !== 'note') || parentName === 'listitem'
  }

  #getTitleTag(): string {
    const parentName = this.#open.at(-1)?.name ?? ''
    if (this.#vocabulary.captions.has(parentName)) return 'p'
    if (this.#isHidden()) return ''
    this.#untitled = ''
    return `h${Math.min(6, this.#sections + 1)}`
  }

  #write(part: string): void {
    this.#endReferences()
    if (this.#untitled !== '') {
      const level = Math.min(6, this.#sections + 1)
      this.#parts.push(`<h${level}>${this.#untitled}</h${level}>`)
      this.#untitled = ''
    }
    this.#parts.push(part)
  }

  /** Consecutive references form a list. */
  #endReferences(): void {
    if (!this.#inReferenceList || this.#inReference > 0) return
    this.#inReferenceList = false
    this.#parts.push('</ul>')
  }

  #beginFact(name: string, attributes: Attributes): void {
    const key = this.#vocabulary.facts.get(name)
    if (key === undefined || this.#sections !== this.#heads) return
    // Translated titles and titles of series follow the title.
    if (key === 'title' && this.#facts.has('title') && name !== 'article-title') return
    const values = this.#facts.get(key) ?? []
    const value = attributes.get('when') ?? attributes.get('iso-8601-date') ?? attributes.get('ident') ?? ''
    values.push(key === 'created' || key === 'language' ? value : '')
    this.#facts.set(key, values)
  }

  #addFactText(name: string, text: string): void {
    if (this.#author !== undefined) {
      if (GIVEN_NAME_ELEMENTS.has(name)) this.#author.given += ` ${text}`
      else if (FAMILY_NAME_ELEMENTS.has(name)) this.#author.family += text
      else if (FULL_NAME_ELEMENTS.has(name) || AUTHOR_ELEMENTS.has(name)) this.#author.full += text
      return
    }
    const factElement = this.#open.findLast((element) => this.#vocabulary.facts.has(element.name))?.name
    const key = factElement === undefined ? undefined : this.#vocabulary.facts.get(factElement)
    const values = key === undefined ? undefined : this.#facts.get(key)
    const last = values?.at(-1)
    if (values === undefined || last === undefined || last.length > MAX_FACT_LENGTH) return
    if (key === 'created' && /^(?:year|month|day)$/.test(name)) {
      if (!this.#date.has(name) && values.length === 1) this.#date.set(name, text.trim().padStart(2, '0'))
    } else if (key !== 'created' || last === '') values[values.length - 1] = last + text
  }

  #endAuthor(): void {
    const author = this.#author
    this.#author = undefined
    if (author === undefined) return
    const name = collapseText(`${author.given} ${author.family}`) ?? collapseText(author.full)
    if (name !== undefined && this.#authors.size < MAX_AUTHORS) this.#authors.add(name.slice(0, 200))
  }
}

function getDeclaredLanguage(attributes: Attributes): string {
  const language = attributes.get('language') ?? attributes.get('code-type') ?? attributes.get('lang') ?? ''
  return /^[\w+#-]{1,30}$/.test(language) ? language : ''
}

function collapseText(text: string | undefined): string | undefined {
  const line = text?.replace(/\s+/g, ' ').trim()
  return line === undefined || line === '' ? undefined : line
}
