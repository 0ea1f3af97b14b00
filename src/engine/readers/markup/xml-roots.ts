/** Characters of an XML text in which its root is searched after the prolog, comments and document type. */
const HEAD_LENGTH = 16 * 1024
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument.'

/**
 * The media type of an XML text by its root element; `undefined` for an unknown one.
 *
 * @param text begins with `<`, except for white space
 */
export function detectXmlType(text: string): string | undefined {
  const head = text.slice(0, HEAD_LENGTH)
  const start = findRootStart(head)
  if (start === -1) return undefined
  const match = /^<(?:[\w-]{1,40}:)?([\w.-]{1,60})([^<>]{0,4000})>/.exec(head.slice(start, start + 5000))
  if (match === null) return undefined
  const [tag, name = '', attributes = ''] = match
  if (name === 'rss') return 'application/rss+xml'
  if (name === 'feed') return 'application/atom+xml'
  if (name === 'svg') return 'image/svg+xml'
  if (name === 'FictionBook') return 'application/x-fictionbook+xml'
  if (name === 'opml') return 'application/x-opml+xml'
  if (name === 'mediawiki') return 'application/x-mediawiki-export+xml'
  if (name === 'TEI' || name === 'teiCorpus' || name === 'TEI.2') return 'application/tei+xml'
  if (name === 'document' && tag.startsWith('<office:')) return getFlatType(attributes, head)
  return detectPaperType(name, head.slice(0, start) + tag, head.slice(start))
}

/** Offset of the root element, after declarations, comments and a document type. */
function findRootStart(head: string): number {
  let offset = 0
  for (;;) {
    while (/\s|\ufeff/.test(head.charAt(offset))) offset++
    if (head.startsWith('<?', offset)) offset = skipPast(head, '?>', offset)
    else if (head.startsWith('<!--', offset)) offset = skipPast(head, '-->', offset)
    else if (head.startsWith('<!', offset)) {
      const subset = head.indexOf('[', offset)
      const close = head.indexOf('>', offset)
      offset = subset !== -1 && subset < close ? skipPast(head, ']>', offset) : skipPast(head, '>', offset)
    } else return head.charAt(offset) === '<' ? offset : -1
    if (offset <= 0) return -1
  }
}

function skipPast(text: string, mark: string, start: number): number {
  const index = text.indexOf(mark, start)
  return index === -1 ? -1 : index + mark.length
}

/** The `mimetype` attribute of single-file OpenDocument states its kind. */
function getFlatType(attributes: string, head: string): string {
  const kind = /office:mimetype="application\/vnd\.oasis\.opendocument\.([\w-]{1,40})"/.exec(attributes)?.[1]
  const detectedKind = kind ?? /<office:(text|spreadsheet|presentation|drawing)[\s>]/.exec(head)?.[1]
  return `${OPEN_DOCUMENT}${detectedKind ?? 'text'}-flat-xml`
}

const BOOK_ROOTS = new Set('article book chapter set refentry part section appendix preface reference'.split(' '))

/** Journal papers and manuals share element names; the text before and in them distinguishes them. */
function detectPaperType(name: string, before: string, body: string): string | undefined {
  if (!BOOK_ROOTS.has(name)) return undefined
  if (/docbook/i.test(before)) return 'application/docbook+xml'
  if (/\b(?:JATS|NLM|BITS|journalpublishing|archivearticle)\b|article-type=|book-part|dtd-version=/i.test(before))
    return 'application/jats+xml'
  if (/<(?:front|book-meta|journal-meta|article-meta)[\s>]/.test(body)) return 'application/jats+xml'
  return /<(?:para|simpara|sect1|articleinfo|bookinfo|refmeta)[\s>]/.test(body) ? 'application/docbook+xml' : undefined
}
