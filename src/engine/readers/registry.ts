import type { Parser } from './parsed.js'

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.'

/**
 * The media types of each parser; the first that matches reads a file. The code of a parser is loaded with the first such
 * file, so that small notes stay cheap. To add a format, add a line.
 */
const PARSERS: readonly (readonly [types: readonly string[] | RegExp, load: () => Promise<Parser>])[] = [
  [['text/markdown'], async () => (await import('./text/markdown.js')).markdownParser],
  [['text/plain'], async () => (await import('./text/text.js')).textParser],
  [['text/html', 'application/xhtml+xml'], async () => (await import('./markup/html-page.js')).htmlParser],
  [
    ['image/png', 'image/jpeg', 'image/gif', 'image/bmp', 'image/webp', 'image/tiff'],
    async () => (await import('./picture/picture.js')).pictureParser,
  ],
  [['application/pdf'], async () => (await import('./pdf/pdf.js')).pdfParser],
  [[`${WORD}document`, `${WORD}template`], async () => (await import('./office/docx.js')).docxParser],
  [
    /^application\/vnd\.openxmlformats-officedocument\.presentationml\./,
    async () => (await import('./office/pptx.js')).pptxParser,
  ],
  [
    /^application\/vnd\.(?:openxmlformats-officedocument\.spreadsheetml\.|ms-excel$)/,
    async () => (await import('./office/spreadsheet.js')).spreadsheetParser,
  ],
  [/^application\/vnd\.oasis\.opendocument\./, async () => (await import('./office/odf.js')).odfParser],
  [['application/msword'], async () => (await import('./office/doc.js')).docParser],
  [['application/vnd.ms-powerpoint'], async () => (await import('./office/ppt.js')).pptParser],
  [['application/vnd.ms-visio.drawing'], async () => (await import('./office/vsdx.js')).vsdxParser],
  [['application/epub+zip'], async () => (await import('./book/epub.js')).epubParser],
  [['application/rtf'], async () => (await import('./office/rtf.js')).rtfParser],
  [['text/csv', 'text/tab-separated-values'], async () => (await import('./data/csv.js')).csvParser],
  [['application/json', 'application/x-ndjson'], async () => (await import('./data/json.js')).jsonParser],
  [['application/yaml'], async () => (await import('./data/yaml.js')).yamlParser],
  [['text/x-rst'], async () => (await import('./text/rst.js')).rstParser],
  [['message/rfc822'], async () => (await import('./mail/eml.js')).emlParser],
  [['application/vnd.ms-outlook'], async () => (await import('./mail/msg.js')).msgParser],
  [['application/vnd.ms-tnef'], async () => (await import('./mail/tnef.js')).tnefParser],
  [['application/mbox'], async () => (await import('./mail/mbox.js')).mboxParser],
  [['application/zip'], async () => (await import('./archive/zip-folder.js')).zipParser],
  [['application/x-tar'], async () => (await import('./archive/tar.js')).tarParser],
  [['application/gzip'], async () => (await import('./archive/gzip.js')).gzipParser],
  [['text/x-org'], async () => (await import('./text/org.js')).orgParser],
  [['application/x-ipynb+json'], async () => (await import('./data/notebook.js')).notebookParser],
  [['text/x-tex'], async () => (await import('./text/latex.js')).latexParser],
  [['text/x-bibtex'], async () => (await import('./data/bibtex.js')).bibtexParser],
  [['text/x-asciidoc'], async () => (await import('./text/asciidoc.js')).asciidocParser],
  [
    ['text/x-mediawiki', 'application/x-mediawiki-export+xml'],
    async () => (await import('./text/mediawiki-parser.js')).mediawikiParser,
  ],
  [['text/vtt', 'application/x-subrip'], async () => (await import('./text/subtitles.js')).subtitlesParser],
  [['text/calendar'], async () => (await import('./data/calendar.js')).calendarParser],
  [['text/vcard'], async () => (await import('./data/vcard.js')).vcardParser],
  [['text/x-sql'], async () => (await import('./data/sql.js')).sqlParser],
  [['text/x-log'], async () => (await import('./text/log.js')).logParser],
  [['text/troff'], async () => (await import('./text/man.js')).manParser],
  [['text/x-ini', 'text/x-toml'], async () => (await import('./data/ini.js')).iniParser],
  [['application/x-opml+xml'], async () => (await import('./markup/opml.js')).opmlParser],
  [
    ['application/jats+xml', 'application/tei+xml', 'application/docbook+xml', 'application/x-fictionbook+xml'],
    async () => (await import('./markup/paper.js')).paperParser,
  ],
  [/^application\/xml$|\+xml$/, async () => (await import('./markup/xml.js')).xmlParser],
  [/^text\/(?:x-|css$|javascript$)/, async () => (await import('./text/code.js')).codeParser],
]

/** Loads the parser for a media type, if there is one. */
export async function loadParser(mediaType: string): Promise<Parser | undefined> {
  const match = PARSERS.find(([types]) => (types instanceof RegExp ? types.test(mediaType) : types.includes(mediaType)))
  return match?.[1]()
}
