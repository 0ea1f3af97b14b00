import mammoth from 'mammoth'
import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import { readMarkup } from '../markup/markup-events.js'
import type { Block, ParsedDocument, Parser, ParserInput, Picture } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { assignCodeStyles, CODE_STYLE_MAP } from './docx-code.js'
import { DocxInserts } from './docx-inserts.js'
import { assignSizeStyles, SIZE_SHEET, SIZE_STYLE_MAP } from './docx-sizes.js'
import { addEmbeddedFiles } from './embedded-files.js'
import { readCoreProperties } from './properties.js'

/** URL scheme of an embedded picture in the intermediate HTML. */
const PICTURE_SCHEME = 'embedded-picture:'

/** Word's own heading styles that mammoth does not know: the title of a document is above its chapters. */
const STYLE_MAP = [
  "p[style-name='Title'] => h1.title:fresh",
  "p[style-name='Subtitle'] => p:fresh",
  "p[style-name='caption'] => figcaption:fresh",
]

/** Reads Word documents: mammoth converts the body to HTML; headers and footers are appended. */
export const docxParser: Parser = {
  parse: parseDocx,
}

async function parseDocx(input: ParserInput): Promise<ParsedDocument> {
  const zip = openZip(input.bytes, input.filename, input.limits)
  const pictures: Picture[] = []
  const embedded = await addEmbeddedFiles(zip, input)
  const inserts = new DocxInserts(zip, input.filename, embedded)
  const html = await toHtml(zip, input.filename, pictures, inserts)
  const body = readHtml(html, {
    tables: 'data',
    picture: (source) =>
      source.startsWith(PICTURE_SCHEME) ? pictures[Number(source.slice(PICTURE_SCHEME.length))] : undefined,
  })
  const blocks = [...inserts.fillMarkers(body.blocks), ...readHeadersAndFooters(zip, body.blocks), ...embedded.rest()]
  if (!hasContent(blocks)) throw new ReadError('empty', `${input.filename} has no text`)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...readCoreProperties(zip, input.filename),
    blocks,
    metadata: embedded.warnings.length === 0 ? {} : { warnings: embedded.warnings },
  }
}

async function toHtml(zip: ZipArchive, filename: string, pictures: Picture[], inserts: DocxInserts): Promise<string> {
  // mammoth accepts an opened archive in place of a path; ours counts every inflated byte
  const archive = {
    path: '',
    file: {
      exists: (name: string) => zip.entries.has(name),
      read: async (name: string, encoding?: BufferEncoding | 'utf-8') => {
        const bytes = zip.read(name)
        if (/\.(?:xml|rels)$/.test(name)) {
          const xml = bytes.toString('utf8')
          checkXml(xml, name, filename)
          const marked = inserts.withMarkers(name, xml)
          if (marked !== xml) return encoding === undefined ? new Uint8Array(Buffer.from(marked)) : marked
        }
        return encoding === undefined ? new Uint8Array(bytes) : bytes.toString(encoding)
      },
    },
  }
  try {
    const result = await mammoth.convertToHtml(archive, {
      styleMap: [...STYLE_MAP, ...CODE_STYLE_MAP, ...SIZE_STYLE_MAP],
      transformDocument: (document: unknown) => assignCodeStyles(assignSizeStyles(document)),
      externalFileAccess: false,
      convertImage: mammoth.images.imgElement(async (image) => {
        pictures.push({ bytes: new Uint8Array(await image.readAsBuffer()) })
        return { src: `${PICTURE_SCHEME}${pictures.length - 1}` }
      }),
    })
    return SIZE_SHEET + result.value
  } catch (error) {
    if (error instanceof ReadError) throw error
    const detail = error instanceof Error ? error.message : String(error)
    throw new ReadError('malformed', `${filename} is not a readable Word document: ${detail.slice(0, 200)}`, {
      cause: error,
    })
  }
}

/** Tags in Word documents nest some tens deep; thousands are an attack on the code that walks the tree. */
const MAX_XML_DEPTH = 1000

/**
 * Refuses XML with mismatched tags, excessive nesting or a DTD. mammoth's XML parser would take minutes over the first
 * and overflow its stack over the second; Word never writes the third.
 */
function checkXml(xml: string, name: string, filename: string): void {
  const open: string[] = []
  let isWellFormed = !/<!DOCTYPE/i.test(xml)
  readMarkup(
    xml,
    {
      open(tag) {
        if (open.length < MAX_XML_DEPTH) open.push(tag)
        else isWellFormed = false
      },
      close(tag) {
        if (open.pop() !== tag) isWellFormed = false
      },
      text: () => undefined,
    },
    'xml',
  )
  if (isWellFormed && open.length === 0) return
  throw new ReadError('malformed', `${filename} is not a readable Word document: ${name} is not well-formed XML`)
}

/** Texts of headers and footers, each once, and only when the body does not contain them. */
function readHeadersAndFooters(zip: ZipArchive, body: Block[]): Block[] {
  const seen = new Set(body.map((block) => block.text))
  const blocks: Block[] = []
  for (const name of zip.entries.keys()) {
    const kind = /^word\/(header|footer)\d*\.xml$/.exec(name)?.[1]
    if (kind === undefined) continue
    for (const text of parseParagraphs(zip.read(name).toString('utf8'))) {
      if (seen.has(text)) continue
      seen.add(text)
      blocks.push({ type: 'paragraph', text, metadata: { role: kind } })
    }
  }
  return blocks
}

/** The paragraphs of a WordprocessingML part as plain text. */
function parseParagraphs(xml: string): string[] {
  const texts: string[] = []
  let paragraph = ''
  let inText = false
  readMarkup(
    xml,
    {
      open(name) {
        if (name === 'w:t') inText = true
        else if (name === 'w:tab' || name === 'w:br') paragraph += ' '
      },
      close(name) {
        if (name === 'w:t') inText = false
        if (name !== 'w:p') return
        if (paragraph.trim() !== '') texts.push(paragraph.replace(/\s+/g, ' ').trim())
        paragraph = ''
      },
      text(text) {
        if (inText) paragraph += text
      },
    },
    'xml',
  )
  return texts
}
