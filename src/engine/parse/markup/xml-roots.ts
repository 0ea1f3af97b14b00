/** Characters of an XML text in which its root is searched after the prolog, comments and document type. */
const HEAD = 16 * 1024
const FLAT = 'application/vnd.oasis.opendocument.'

/**
 * The media type of an XML text by its root element; `undefined` for an unknown one.
 *
 * @param text begins with `<`, except for white space
 */
export function xmlType(text: string): string | undefined {
  const head = text.slice(0, HEAD)
  const start = rootStart(head)
  if (start === -1) return undefined
  const found = /^<(?:[\w-]{1,40}:)?([\w.-]{1,60})([^<>]{0,4000})>/.exec(head.slice(start, start + 5000))
  if (found === null) return undefined
  const [whole, name = '', attributes = ''] = found
  if (name === 'rss') return 'application/rss+xml'
  if (name === 'feed') return 'application/atom+xml'
  if (name === 'svg') return 'image/svg+xml'
  if (name === 'FictionBook') return 'application/x-fictionbook+xml'
  if (name === 'opml') return 'application/x-opml+xml'
  if (name === 'mediawiki') return 'application/x-mediawiki-export+xml'
  if (name === 'TEI' || name === 'teiCorpus' || name === 'TEI.2') return 'application/tei+xml'
  if (name === 'document' && whole.startsWith('<office:')) return flatType(attributes, head)
  return paperType(name, head.slice(0, start) + whole, head.slice(start))
}

/** Offset of the root element, after declarations, comments and a document type. */
function rootStart(head: string): number {
  let at = 0
  for (;;) {
    while (/\s|\ufeff/.test(head.charAt(at))) at++
    if (head.startsWith('<?', at)) at = after(head, '?>', at)
    else if (head.startsWith('<!--', at)) at = after(head, '-->', at)
    else if (head.startsWith('<!', at)) {
      const subset = head.indexOf('[', at)
      const close = head.indexOf('>', at)
      at = subset !== -1 && subset < close ? after(head, ']>', at) : after(head, '>', at)
    } else return head.charAt(at) === '<' ? at : -1
    if (at <= 0) return -1
  }
}

function after(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from)
  return found === -1 ? -1 : found + end.length
}

/** The `mimetype` attribute of single-file OpenDocument states its kind. */
function flatType(attributes: string, head: string): string {
  const kind = /office:mimetype="application\/vnd\.oasis\.opendocument\.([\w-]{1,40})"/.exec(attributes)?.[1]
  const known = kind ?? /<office:(text|spreadsheet|presentation|drawing)[\s>]/.exec(head)?.[1]
  return `${FLAT}${known ?? 'text'}-flat-xml`
}

const BOOKS = new Set('article book chapter set refentry part section appendix preface reference'.split(' '))

/** Journal papers and manuals share element names; the text before and in them distinguishes them. */
function paperType(name: string, before: string, body: string): string | undefined {
  if (!BOOKS.has(name)) return undefined
  if (/docbook/i.test(before)) return 'application/docbook+xml'
  if (/\b(?:JATS|NLM|BITS|journalpublishing|archivearticle)\b|article-type=|book-part|dtd-version=/i.test(before))
    return 'application/jats+xml'
  if (/<(?:front|book-meta|journal-meta|article-meta)[\s>]/.test(body)) return 'application/jats+xml'
  return /<(?:para|simpara|sect1|articleinfo|bookinfo|refmeta)[\s>]/.test(body) ? 'application/docbook+xml' : undefined
}
