import type { Parser } from './parsed.js'
import { textParser } from './text/text.js'

/** A parser and the types it reads. Its code is loaded with the first such file, so that small notes stay cheap. */
interface ParserEntry {
  accepts(mediaType: string): boolean
  load(): Promise<Parser>
}

const makeLazyEntry = (accepts: (mediaType: string) => boolean, load: () => Promise<Parser>): ParserEntry => {
  let parser: Promise<Parser> | undefined
  return {
    accepts,
    load() {
      parser ??= load()
      return parser
    },
  }
}

const acceptTypes =
  (...types: string[]) =>
  (mediaType: string): boolean =>
    types.includes(mediaType)

const OFFICE = 'application/vnd.openxmlformats-officedocument.'
const WORD = `${OFFICE}wordprocessingml.`

/** All parsers; the first that accepts a type reads it. To add a format, add a line. */
const PARSERS: readonly ParserEntry[] = [
  makeLazyEntry(acceptTypes('text/markdown'), async () => (await import('./text/markdown.js')).markdownParser),
  makeLazyEntry(textParser.accepts, async () => textParser),
  makeLazyEntry(
    acceptTypes('text/html', 'application/xhtml+xml'),
    async () => (await import('./markup/html.js')).htmlParser,
  ),
  makeLazyEntry(
    acceptTypes('image/png', 'image/jpeg', 'image/gif', 'image/bmp', 'image/webp', 'image/tiff'),
    async () => (await import('./picture/picture.js')).pictureParser,
  ),
  makeLazyEntry(acceptTypes('application/pdf'), async () => (await import('./pdf/pdf.js')).pdfParser),
  makeLazyEntry(
    acceptTypes(`${WORD}document`, `${WORD}template`),
    async () => (await import('./office/docx.js')).docxParser,
  ),
  makeLazyEntry(
    (mediaType) => mediaType.startsWith(`${OFFICE}presentationml.`),
    async () => (await import('./office/pptx.js')).pptxParser,
  ),
  makeLazyEntry(
    (mediaType) => mediaType.startsWith(`${OFFICE}spreadsheetml.`) || mediaType === 'application/vnd.ms-excel',
    async () => (await import('./office/spreadsheet.js')).spreadsheetParser,
  ),
  makeLazyEntry(
    (mediaType) => mediaType.startsWith('application/vnd.oasis.opendocument.'),
    async () => (await import('./office/odf.js')).odfParser,
  ),
  makeLazyEntry(acceptTypes('application/msword'), async () => (await import('./office/doc.js')).docParser),
  makeLazyEntry(acceptTypes('application/vnd.ms-powerpoint'), async () => (await import('./office/ppt.js')).pptParser),
  makeLazyEntry(
    acceptTypes('application/vnd.ms-visio.drawing'),
    async () => (await import('./office/vsdx.js')).vsdxParser,
  ),
  makeLazyEntry(acceptTypes('application/epub+zip'), async () => (await import('./book/epub.js')).epubParser),
  makeLazyEntry(acceptTypes('application/rtf'), async () => (await import('./office/rtf.js')).rtfParser),
  makeLazyEntry(
    acceptTypes('text/csv', 'text/tab-separated-values'),
    async () => (await import('./data/csv.js')).csvParser,
  ),
  makeLazyEntry(
    acceptTypes('application/json', 'application/x-ndjson'),
    async () => (await import('./data/json.js')).jsonParser,
  ),
  makeLazyEntry(acceptTypes('application/yaml'), async () => (await import('./data/yaml.js')).yamlParser),
  makeLazyEntry(acceptTypes('text/x-rst'), async () => (await import('./text/rst.js')).rstParser),
  makeLazyEntry(acceptTypes('message/rfc822'), async () => (await import('./mail/eml.js')).emlParser),
  makeLazyEntry(acceptTypes('application/vnd.ms-outlook'), async () => (await import('./mail/msg.js')).msgParser),
  makeLazyEntry(acceptTypes('application/vnd.ms-tnef'), async () => (await import('./mail/tnef.js')).tnefParser),
  makeLazyEntry(acceptTypes('application/mbox'), async () => (await import('./mail/mbox.js')).mboxParser),
  makeLazyEntry(acceptTypes('application/zip'), async () => (await import('./archive/zip-folder.js')).zipParser),
  makeLazyEntry(acceptTypes('application/x-tar'), async () => (await import('./archive/tar.js')).tarParser),
  makeLazyEntry(acceptTypes('application/gzip'), async () => (await import('./archive/gzip.js')).gzipParser),
  makeLazyEntry(acceptTypes('text/x-org'), async () => (await import('./text/org.js')).orgParser),
  makeLazyEntry(
    acceptTypes('application/x-ipynb+json'),
    async () => (await import('./data/notebook.js')).notebookParser,
  ),
  makeLazyEntry(acceptTypes('text/x-tex'), async () => (await import('./text/latex.js')).latexParser),
  makeLazyEntry(acceptTypes('text/x-bibtex'), async () => (await import('./data/bibtex.js')).bibtexParser),
  makeLazyEntry(acceptTypes('text/x-asciidoc'), async () => (await import('./text/asciidoc.js')).asciidocParser),
  makeLazyEntry(
    acceptTypes('text/x-mediawiki', 'application/x-mediawiki-export+xml'),
    async () => (await import('./text/mediawiki-parser.js')).mediawikiParser,
  ),
  makeLazyEntry(
    acceptTypes('text/vtt', 'application/x-subrip'),
    async () => (await import('./text/subtitles.js')).subtitlesParser,
  ),
  makeLazyEntry(acceptTypes('text/calendar'), async () => (await import('./data/calendar.js')).calendarParser),
  makeLazyEntry(acceptTypes('text/vcard'), async () => (await import('./data/vcard.js')).vcardParser),
  makeLazyEntry(acceptTypes('text/x-sql'), async () => (await import('./data/sql.js')).sqlParser),
  makeLazyEntry(acceptTypes('text/x-log'), async () => (await import('./text/log.js')).logParser),
  makeLazyEntry(acceptTypes('text/troff'), async () => (await import('./text/man.js')).manParser),
  makeLazyEntry(acceptTypes('text/x-ini', 'text/x-toml'), async () => (await import('./data/ini.js')).iniParser),
  makeLazyEntry(acceptTypes('application/x-opml+xml'), async () => (await import('./markup/opml.js')).opmlParser),
  makeLazyEntry(
    acceptTypes(
      'application/jats+xml',
      'application/tei+xml',
      'application/docbook+xml',
      'application/x-fictionbook+xml',
    ),
    async () => (await import('./markup/paper.js')).paperParser,
  ),
  makeLazyEntry(
    (mediaType) => mediaType === 'application/xml' || mediaType.endsWith('+xml'),
    async () => (await import('./markup/xml.js')).xmlParser,
  ),
  makeLazyEntry(
    (mediaType) => /^text\/(?:x-|css$|javascript$)/.test(mediaType),
    async () => (await import('./text/code.js')).codeParser,
  ),
]

/** Loads the parser for a media type, if there is one. */
export async function loadParser(mediaType: string): Promise<Parser | undefined> {
  return PARSERS.find((entry) => entry.accepts(mediaType))?.load()
}
