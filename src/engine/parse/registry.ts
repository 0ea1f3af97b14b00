import type { Parser } from './parsed.js'
import { textParser } from './text/text.js'

/** A parser and the types it reads. Its code is loaded with the first such file, so that small notes stay cheap. */
interface Entry {
  accepts(mediaType: string): boolean
  load(): Promise<Parser>
}

const lazily = (accepts: (mediaType: string) => boolean, load: () => Promise<Parser>): Entry => {
  let parser: Promise<Parser> | undefined
  return {
    accepts,
    load() {
      parser ??= load()
      return parser
    },
  }
}

const is =
  (...types: string[]) =>
  (mediaType: string): boolean =>
    types.includes(mediaType)

const OFFICE = 'application/vnd.openxmlformats-officedocument.'
const WORD = `${OFFICE}wordprocessingml.`

/** All parsers; the first that accepts a type reads it. To add a format, add a line. */
const PARSERS: readonly Entry[] = [
  lazily(is('text/markdown'), async () => (await import('./text/markdown.js')).markdownParser),
  lazily(textParser.accepts, async () => textParser),
  lazily(is('text/html', 'application/xhtml+xml'), async () => (await import('./markup/html.js')).htmlParser),
  lazily(
    is('image/png', 'image/jpeg', 'image/gif', 'image/bmp', 'image/webp', 'image/tiff'),
    async () => (await import('./picture/picture.js')).pictureParser,
  ),
  lazily(is('application/pdf'), async () => (await import('./pdf/pdf.js')).pdfParser),
  lazily(is(`${WORD}document`, `${WORD}template`), async () => (await import('./office/docx.js')).docxParser),
  lazily(
    (mediaType) => mediaType.startsWith(`${OFFICE}presentationml.`),
    async () => (await import('./office/pptx.js')).pptxParser,
  ),
  lazily(
    (mediaType) => mediaType.startsWith(`${OFFICE}spreadsheetml.`) || mediaType === 'application/vnd.ms-excel',
    async () => (await import('./office/spreadsheet.js')).spreadsheetParser,
  ),
  lazily(
    (mediaType) => mediaType.startsWith('application/vnd.oasis.opendocument.'),
    async () => (await import('./office/odf.js')).odfParser,
  ),
  lazily(is('application/msword'), async () => (await import('./office/doc.js')).docParser),
  lazily(is('application/vnd.ms-powerpoint'), async () => (await import('./office/ppt.js')).pptParser),
  lazily(is('application/vnd.ms-visio.drawing'), async () => (await import('./office/vsdx.js')).vsdxParser),
  lazily(is('application/epub+zip'), async () => (await import('./book/epub.js')).epubParser),
  lazily(is('application/rtf'), async () => (await import('./office/rtf.js')).rtfParser),
  lazily(is('text/csv', 'text/tab-separated-values'), async () => (await import('./data/csv.js')).csvParser),
  lazily(is('application/json', 'application/x-ndjson'), async () => (await import('./data/json.js')).jsonParser),
  lazily(is('application/yaml'), async () => (await import('./data/yaml.js')).yamlParser),
  lazily(is('text/x-rst'), async () => (await import('./text/rst.js')).rstParser),
  lazily(is('message/rfc822'), async () => (await import('./mail/eml.js')).emlParser),
  lazily(is('application/vnd.ms-outlook'), async () => (await import('./mail/msg.js')).msgParser),
  lazily(is('application/vnd.ms-tnef'), async () => (await import('./mail/tnef.js')).tnefParser),
  lazily(is('application/mbox'), async () => (await import('./mail/mbox.js')).mboxParser),
  lazily(is('application/zip'), async () => (await import('./archive/zip-folder.js')).zipParser),
  lazily(is('application/x-tar'), async () => (await import('./archive/tar.js')).tarParser),
  lazily(is('application/gzip'), async () => (await import('./archive/gzip.js')).gzipParser),
  lazily(is('text/x-org'), async () => (await import('./text/org.js')).orgParser),
  lazily(is('application/x-ipynb+json'), async () => (await import('./data/notebook.js')).notebookParser),
  lazily(is('text/x-tex'), async () => (await import('./text/latex.js')).latexParser),
  lazily(is('text/x-bibtex'), async () => (await import('./data/bibtex.js')).bibtexParser),
  lazily(is('text/x-asciidoc'), async () => (await import('./text/asciidoc.js')).asciidocParser),
  lazily(
    is('text/x-mediawiki', 'application/x-mediawiki-export+xml'),
    async () => (await import('./text/mediawiki-parser.js')).mediawikiParser,
  ),
  lazily(is('text/vtt', 'application/x-subrip'), async () => (await import('./text/subtitles.js')).subtitlesParser),
  lazily(is('text/calendar'), async () => (await import('./data/calendar.js')).calendarParser),
  lazily(is('text/vcard'), async () => (await import('./data/vcard.js')).vcardParser),
  lazily(is('text/x-sql'), async () => (await import('./data/sql.js')).sqlParser),
  lazily(is('text/x-log'), async () => (await import('./text/log.js')).logParser),
  lazily(is('text/troff'), async () => (await import('./text/man.js')).manParser),
  lazily(is('text/x-ini', 'text/x-toml'), async () => (await import('./data/ini.js')).iniParser),
  lazily(is('application/x-opml+xml'), async () => (await import('./markup/opml.js')).opmlParser),
  lazily(
    is('application/jats+xml', 'application/tei+xml', 'application/docbook+xml', 'application/x-fictionbook+xml'),
    async () => (await import('./markup/paper.js')).paperParser,
  ),
  lazily(
    (mediaType) => mediaType === 'application/xml' || mediaType.endsWith('+xml'),
    async () => (await import('./markup/xml.js')).xmlParser,
  ),
  lazily(
    (mediaType) => /^text\/(?:x-|css$|javascript$)/.test(mediaType),
    async () => (await import('./text/code.js')).codeParser,
  ),
]

/** Loads the parser for a media type, if there is one. */
export async function parserFor(mediaType: string): Promise<Parser | undefined> {
  return PARSERS.find((entry) => entry.accepts(mediaType))?.load()
}
