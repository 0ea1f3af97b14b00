import { type AbstractBlock, Html5Converter, type Inline, load, MemoryLogger } from '@asciidoctor/core'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import { HtmlNotes } from '../markup/html-notes.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { parsePictureSource } from '../pictures.js'

const INCLUDE = /^include::([^\s[][^\n[]{0,500})\[[^\n]*\]\s*$/gm
const MAX_INCLUDES = 20
/** The library takes quadratic time for the marks in a paragraph: longer lines become several. */
const MAX_LINE_LENGTH = 10_000
const LONG_LINE = new RegExp(`[^\\n]{${MAX_LINE_LENGTH}}(?=[^\\n])`, 'g')
const MAX_WARNINGS = 20
/** Attributes that a document cannot change: numbers of captions and a list of contents are no text of its author. */
const ATTRIBUTES = {
  showtitle: '',
  experimental: '',
  'toc!': '',
  'icons!': '',
  'data-uri!': '',
  'table-caption!': '',
  'figure-caption!': '',
  'example-caption!': '',
  'listing-caption!': '',
}

/** Reads AsciiDoc with Asciidoctor, as HTML. Included files are listed, not read. */
export const asciidocParser: Parser = {
  parse: parseAsciidoc,
}

async function parseAsciidoc(input: ParserInput): Promise<ParsedDocument> {
  const includes: string[] = []
  const source = input
    .text()
    .replace(/\r\n?/g, '\n')
    .replace(INCLUDE, (_line, target: string) => {
      if (includes.length < MAX_INCLUDES) includes.push(target)
      return ''
    })
    .replace(LONG_LINE, '$&\n\n')
  const logger = new MemoryLogger()
  // No file is read and no attribute of the system is visible.
  const document = await load(source, { safe: 'secure', attributes: ATTRIBUTES, logger })
  document.setConverter(new TextConverter('html5', {}))
  const notes = new HtmlNotes()
  notes.beginPage('', (href) => href)
  const page = readHtml(String(await document.convert()), { notes, picture: parsePictureSource })
  const blocks = notes.placeNotes(page.blocks)
  addCaptions(blocks)
  if (document.hasHeader()) setTitle(blocks)
  if (!blocks.some((block) => block.text !== '')) throw new ReadError('empty', `${input.filename} has no text`)
  const getAttribute = (name: string): string | undefined => {
    const value: unknown = document.getAttribute(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const authors = document.getAuthors().flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  const messages = logger.getMessages().map((message) => String(message.getText()))
  const losses = messages.filter((message) => /drop/.test(message))
  const warnings = [
    ...(includes.length === 0 ? [] : [`not followed: ${includes.join(', ')}`]),
    ...new Set(losses.slice(0, MAX_WARNINGS)),
  ]
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...omitUndefined({ title: blocks.find(({ type }) => type === 'title')?.text, language: getAttribute('lang') }),
    blocks,
    metadata: {
      ...(authors.length === 0 ? {} : { authors }),
      ...omitUndefined({ created: getAttribute('revdate'), description: getAttribute('description') }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
}

/** The first heading is the title; the sections below it are the first level. */
function setTitle(blocks: readonly Block[]): void {
  let hasTitle = false
  for (const block of blocks) {
    if (block.type !== 'heading') continue
    if (hasTitle) block.level = Math.max(1, (block.level ?? 1) - 1)
    else block.type = 'title'
    hasTitle = true
  }
}

/** Gives tables the caption before them. */
function addCaptions(blocks: readonly Block[]): void {
  for (const [index, block] of blocks.entries()) {
    const previous = blocks[index - 1]
    if (block.type === 'table' && previous?.metadata?.role === 'caption')
      block.metadata = { ...block.metadata, caption: previous.text }
  }
}

/** A list of terms; the types of the library know only items of other lists. */
interface DescriptionList {
  title: unknown
  hasTitle(): boolean
  getItems(): [terms: ListText[], description: ListText | null][]
}

interface ListText {
  hasText(): boolean
  getText(): string
  hasBlocks(): boolean
  content(): Promise<unknown>
}

/** Makes HTML without the tables and texts that only serve the layout of a page. */
class TextConverter extends Html5Converter {
  override async convert_admonition(node: AbstractBlock): Promise<string> {
    const label = String(node.getAttribute('name')).toUpperCase()
    const content = String(await node.content())
    if (node.hasTitle()) return `<p>${label}: ${node.title}</p>${wrapText(content)}`
    return content.startsWith('<') && !content.startsWith('<div class="paragraph')
      ? content
      : wrapText(content).replace('<p>', `<p>${label}: `)
  }

  override async convert_inline_callout(): Promise<string> {
    return ''
  }

  override async convert_inline_footnote(node: Inline): Promise<string> {
    const index = node.getAttribute('index')
    return index ? `<a href="#_footnotedef_${index}" class="footnote">${index}</a>` : `[${node.text}]`
  }

  /** A caption above its table, as `addCaptions` expects it. */
  override async convert_table(node: AbstractBlock): Promise<string> {
    const html = await super.convert_table(node)
    return html.replace(/^([\s\S]*?)<caption class="title">([\s\S]*?)<\/caption>/, '<figcaption>$2</figcaption>$1')
  }

  /** Terms and their descriptions are items, whatever their layout. */
  override async convert_dlist(node: DescriptionList): Promise<string> {
    const items: string[] = []
    for (const [terms, description] of node.getItems()) {
      const names = terms.map((term) => term.getText()).join(', ')
      const text = description?.hasText() ? description.getText() : ''
      const blocks = description?.hasBlocks() ? await description.content() : ''
      items.push(`<li>${names}: ${text}${blocks}</li>`)
    }
    return `${node.hasTitle() ? `<p>${node.title}</p>` : ''}<ul>${items.join('')}</ul>`
  }

  override async convert_toc(): Promise<string> {
    return ''
  }

  override async convert_video(node: AbstractBlock): Promise<string> {
    return node.hasTitle() ? `<p>${node.title}</p>` : ''
  }

  override async convert_audio(node: AbstractBlock): Promise<string> {
    return await this.convert_video(node)
  }
}

function wrapText(content: string): string {
  return content.startsWith('<div') || content.startsWith('<p') ? content : `<p>${content}</p>`
}
