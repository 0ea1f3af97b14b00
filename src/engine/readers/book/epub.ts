import { omitUndefined } from '../../../lib/omit-undefined.js'
import { openZip, type ZipArchive } from '../archive/zip.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import { HtmlNotes } from '../markup/html-notes.js'
import { EmbeddedPictures } from '../office/embedded-pictures.js'
import { readXmlText } from '../office/office-package.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { hasContent, parsePictureSource } from '../pictures.js'
import { reportProgress } from '../progress.js'
import { readEpubPackage, resolveTarget } from './epub-package.js'

/** Reads e-books: chapters in reading order through the HTML reader, title and author from the package document. */
export const epubParser: Parser = {
  parse: parseEpub,
}

function parseEpub(input: ParserInput): ParsedDocument {
  const { filename } = input
  const zip = openZip(input.bytes, filename, input.limits)
  const book = readEpubPackage(zip, filename)
  const pictures = new EmbeddedPictures(zip)
  const notes = new HtmlNotes()
  const chapters = book.chapters.flatMap((part, index) => {
    reportProgress('chapter', index + 1, book.chapters.length)
    notes.beginPage(part, (href) => resolveTarget(part, href))
    return toChapterBlocks(zip, part, { pictures, notes, label: book.labels.get(part) })
  })
  const blocks = notes.placeNotes(chapters)
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  return {
    parser: 'native-html',
    contentType: 'text',
    ...omitUndefined({ title: book.title, language: book.language }),
    blocks,
    metadata: { chapterCount: book.chapters.length },
    declared: omitUndefined({
      published: book.published,
      authors: book.author === undefined ? undefined : [book.author],
    }),
  }
}

/** A chapter without a heading gets its title from the table of contents. */
function toChapterBlocks(
  zip: ZipArchive,
  part: string,
  { pictures, notes, label }: { pictures: EmbeddedPictures; notes: HtmlNotes; label: string | undefined },
): Block[] {
  const { blocks } = readHtml(readXmlText(zip, part), {
    xhtml: true,
    notes,
    picture: (source) =>
      /^[a-z][\w+.-]*:/i.test(source) ? parsePictureSource(source) : pictures.get(resolveTarget(part, source)),
  })
  if (label === undefined || blocks.length === 0 || blocks.some((block) => block.type === 'heading')) return blocks
  return [{ type: 'heading', text: label, level: 1, tocSource: 'bookmark', silent: true }, ...blocks]
}
