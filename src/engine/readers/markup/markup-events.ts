import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode'
import { Tokenizer } from 'htmlparser2'
import { type Attributes, TagAttributes } from './markup-attributes.js'
import { MarkupNames } from './markup-names.js'

export type { Attributes } from './markup-attributes.js'

/** Receives the events of the tokenizer in order. Tag and attribute names are in lower case in HTML. */
export interface MarkupHandler {
  open(name: string, attributes: Attributes): void
  close(name: string): void
  text(text: string): void
}

/** Elements of HTML whose text has no character references for the tokenizer. */
const RAW_TEXT_ELEMENTS = new Set(['script', 'style', 'textarea', 'xmp'])
const HTML_NAMES = new MarkupNames(true)
const XML_NAMES = new MarkupNames(false)

/**
 * Runs an HTML or XML text through the tokenizer of htmlparser2, with character references decoded.
 *
 * Events instead of a tree: no depth of nesting makes it slower than linear or overflows the stack, no DTD is read, no
 * entity of the document is expanded, and nothing external is ever fetched. References are decoded here only where
 * there are some, because a decoding tokenizer examines each character of text and values.
 *
 * @param xml keep the case of names, treat `<a/>` as closed
 * @param selfClosing treat `<a/>` as closed also with the names of HTML, for XHTML
 */
export function readMarkup(source: string, handler: MarkupHandler, xml = false, selfClosing = xml): void {
  const names = xml ? XML_NAMES : HTML_NAMES
  const attributes = new TagAttributes(source, xml ? decodeXML : decodeHTMLAttribute)
  const decode = xml ? decodeXML : decodeHTML
  let tag = ''
  let isRawText = false
  const tokenizer = new Tokenizer(
    { xmlMode: xml, decodeEntities: false },
    {
      onopentagname(start, end) {
        tag = names.read(source, start, end)
        attributes.clear()
      },
      onattribname: (start, end) => attributes.add(names.read(source, start, end)),
      onattribdata: (start, end) => attributes.setValue(start, end),
      onattribend: () => undefined,
      onopentagend() {
        isRawText = !xml && RAW_TEXT_ELEMENTS.has(tag)
        handler.open(tag, attributes)
      },
      onselfclosingtag() {
        handler.open(tag, attributes)
        if (selfClosing) handler.close(tag)
      },
      onclosetag(start, end) {
        isRawText = false
        handler.close(names.read(source, start, end))
      },
      ontext(start, end) {
        const text = source.slice(start, end)
        handler.text(isRawText || !text.includes('&') ? text : decode(text))
      },
      oncdata(start, end, endOffset) {
        if (xml) handler.text(source.slice(start, end - endOffset))
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
  tokenizer.write(source)
  tokenizer.end()
}
