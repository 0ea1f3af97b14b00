import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode'
import { Tokenizer } from 'htmlparser2'
import { type Attributes, TagAttributes } from './markup-attributes.js'
import { MarkupNames } from './markup-names.js'
import { findTagEnd, ScriptEndFinder } from './tag-ends.js'

export type { Attributes } from './markup-attributes.js'

/** Receives the events of the tokenizer in order. Tag and attribute names are in lower case in HTML. */
export interface MarkupHandler {
  open(name: string, attributes: Attributes): void
  close(name: string): void
  text(text: string): void
}

export type MarkupSyntax = 'html' | 'xhtml' | 'xml'

/** Elements of HTML whose text has no character references for the tokenizer. */
const RAW_TEXT_ELEMENTS = new Set('script style xmp iframe noembed noframes plaintext'.split(' '))
const HTML_NAMES = new MarkupNames({ isLowerCase: true })
const XML_NAMES = new MarkupNames({ isLowerCase: false })

/**
 * Runs an HTML or XML text through the tokenizer of htmlparser2, with character references decoded.
 *
 * Events instead of a tree: no depth of nesting makes it slower than linear or overflows the stack, no DTD is read, no
 * entity of the document is expanded, and nothing external is ever fetched. References are decoded here only where
 * there are some, because a decoding tokenizer examines each character of text and values.
 *
 * @param syntax `xml` keeps the case of names; `xml` and `xhtml` treat `<a/>` as closed
 */
export function readMarkup(source: string, handler: MarkupHandler, syntax: MarkupSyntax = 'html'): void {
  const isXml = syntax === 'xml'
  const names = isXml ? XML_NAMES : HTML_NAMES
  const attributes = new TagAttributes(source, isXml ? decodeXML : decodeHTMLAttribute)
  const decode = isXml ? decodeXML : decodeHTML
  let tag = ''
  let isRawText = false
  /** the tokenizer reports the end of a closing tag before this index as text and tags, which are ignored */
  let skippedTo = 0
  let script: ScriptEndFinder | undefined
  let isInScript = false
  const isSkipped = (index: number) => isInScript || index < skippedTo
  const openTag = (end: number) => {
    if (isSkipped(end)) return
    isRawText = syntax === 'html' && RAW_TEXT_ELEMENTS.has(tag)
    if (isRawText && tag === 'script') script = new ScriptEndFinder(source, end)
    handler.open(tag, attributes)
  }
  const tokenizer = new Tokenizer(
    { xmlMode: isXml, decodeEntities: false, recognizeSelfClosing: syntax !== 'html' },
    {
      onopentagname(start, end) {
        tag = names.read(source, start, end)
        attributes.clear()
      },
      onattribname: (start, end) => attributes.add(names.read(source, start, end)),
      onattribdata: (start, end) => attributes.setValue(start, end),
      onattribend: () => undefined,
      onopentagend: openTag,
      onselfclosingtag(end) {
        openTag(end)
        if (syntax !== 'html' && !isSkipped(end)) handler.close(tag)
      },
      onclosetag(start, end) {
        const name = names.read(source, start, end)
        if (start < skippedTo) return
        if (script !== undefined) {
          isInScript = name !== 'script' || !script.endsAt(start - 2)
          if (isInScript) return
          script = undefined
        }
        isRawText = false
        handler.close(name)
        if (!isXml && source.charAt(end) !== '>') skippedTo = findTagEnd(source, end) + 1
      },
      ontext(start, end) {
        if (end <= skippedTo) return
        const text = source.slice(Math.max(start, skippedTo), end)
        handler.text(isRawText || !text.includes('&') ? text : decode(text))
      },
      oncdata(start, end, endOffset) {
        if (isXml) handler.text(source.slice(start, end - endOffset))
      },
      // never called: the tokenizer decodes nothing
      onattribentity: () => undefined,
      ontextentity: () => undefined,
      oncomment: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    },
  )
  tokenizer.write(isXml ? closeDeclaration(source) : source)
  tokenizer.end()
}

/** A declaration that ends in `>` would hide the text up to the next `?>`. The length stays, as offsets refer to it. */
function closeDeclaration(xml: string): string {
  const declaration = /^\s{0,100}<\?xml[^>]{0,1000}>/.exec(xml)?.[0] ?? ''
  if (declaration === '' || declaration.endsWith('?>')) return xml
  return `${declaration.slice(0, -2)}?>${xml.slice(declaration.length)}`
}

/** Calls `visit` for every opening tag of an XML text, in order. */
export function visitTags(xml: string, visit: (name: string, attributes: Attributes) => void): void {
  readMarkup(xml, { open: visit, close: () => undefined, text: () => undefined }, 'xml')
}

/** A name without its namespace prefix. */
export function getLocalName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Escapes a text for HTML and XML, between tags and in attributes. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
