import { defined } from '../../../lib/defined.js'
import { openZip, type ZipArchive } from '../archive/zip.js'
import { declaredCharset, decodeText } from '../charset.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import { HtmlNotes } from '../markup/html-notes.js'
import { EmbeddedPictures } from '../office/embedded-pictures.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { hasContent, pictureFrom } from '../pictures.js'
import { tellProgress } from '../progress.js'
import { readPackage, target } from './epub-package.js'

/** Reads e-books: chapters in reading order through the HTML reader, title and author from the package document. */
export const epubParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/epub+zip',
  parse: parseEpub,
}

function parseEpub(input: ParserInput): Parsed {
  const { filename } = input
  const zip = openZip(input.bytes, filename, input.limits)
  const book = readPackage(zip, filename)
  const pictures = new EmbeddedPictures(zip)
  const notes = new HtmlNotes()
  const chapters = book.chapters.flatMap((part, index) => {
    tellProgress('chapter', index + 1, book.chapters.length)
    notes.enter(part, (href) => target(part, href))
    return chapterBlocks(zip, part, { pictures, notes, label: book.labels.get(part) })
  })
  const blocks = notes.placed(chapters)
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  return {
    parser: 'native-html',
    contentType: 'text',
    ...defined({ title: book.title, language: book.language }),
    blocks,
    metadata: { chapterCount: book.chapters.length },
    declared: defined({
      published: book.published,
      authors: book.author === undefined ? undefined : [book.author],
    }),
  }
}

/** A chapter without a heading gets its title from the table of contents. */
function chapterBlocks(
  zip: ZipArchive,
  part: string,
  { pictures, notes, label }: { pictures: EmbeddedPictures; notes: HtmlNotes; label: string | undefined },
): Block[] {
  const bytes = zip.read(part)
  const { blocks } = readHtml(decodeText(bytes, declaredCharset(bytes)).text, {
    xhtml: true,
    notes,
    picture: (source) => (/^[a-z][\w+.-]*:/i.test(source) ? pictureFrom(source) : pictures.get(target(part, source))),
  })
  if (label === undefined || blocks.length === 0 || blocks.some((block) => block.type === 'heading')) return blocks
  return [{ type: 'heading', text: label, level: 1, tocSource: 'bookmark', silent: true }, ...blocks]
}
