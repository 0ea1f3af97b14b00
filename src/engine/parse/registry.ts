import type { Parser } from './parsed.js'
import { textParser } from './text.js'

/** A parser and the types it reads. Its code is loaded when the first such file comes, so small notes stay cheap. */
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

/** Every parser, asked in this order. To add a format, add a line. */
const PARSERS: readonly Entry[] = [
  lazily(is('text/markdown'), async () => (await import('./markdown.js')).markdownParser),
  lazily(textParser.accepts, async () => textParser),
  lazily(is('text/html', 'application/xhtml+xml'), async () => (await import('./html.js')).htmlParser),
  lazily(is('application/pdf'), async () => (await import('./pdf.js')).pdfParser),
  lazily(is(`${WORD}document`, `${WORD}template`), async () => (await import('./docx.js')).docxParser),
  lazily(
    (mediaType) => mediaType.startsWith(`${OFFICE}presentationml.`),
    async () => (await import('./pptx.js')).pptxParser,
  ),
  lazily(
    (mediaType) => mediaType.startsWith(`${OFFICE}spreadsheetml.`) || mediaType === 'application/vnd.ms-excel',
    async () => (await import('./spreadsheet.js')).spreadsheetParser,
  ),
  lazily(
    (mediaType) => mediaType.startsWith('application/vnd.oasis.opendocument.'),
    async () => (await import('./odf.js')).odfParser,
  ),
  lazily(is('application/epub+zip'), async () => (await import('./epub.js')).epubParser),
  lazily(is('application/rtf'), async () => (await import('./rtf.js')).rtfParser),
  lazily(is('text/csv', 'text/tab-separated-values'), async () => (await import('./csv.js')).csvParser),
  lazily(is('application/json', 'application/x-ndjson'), async () => (await import('./json.js')).jsonParser),
  lazily(is('application/yaml'), async () => (await import('./yaml.js')).yamlParser),
  lazily(is('text/x-rst'), async () => (await import('./rst.js')).rstParser),
  lazily(is('message/rfc822'), async () => (await import('./eml.js')).emlParser),
  lazily(is('application/vnd.ms-outlook'), async () => (await import('./msg.js')).msgParser),
  lazily(is('text/x-org'), async () => (await import('./org.js')).orgParser),
  lazily(
    (mediaType) => mediaType === 'application/xml' || mediaType.endsWith('+xml'),
    async () => (await import('./xml.js')).xmlParser,
  ),
  lazily(
    (mediaType) => /^text\/(?:x-|css$|javascript$)/.test(mediaType),
    async () => (await import('./code.js')).codeParser,
  ),
]

/** The parser for a media type, if there is one. */
export async function parserFor(mediaType: string): Promise<Parser | undefined> {
  return PARSERS.find((entry) => entry.accepts(mediaType))?.load()
}
