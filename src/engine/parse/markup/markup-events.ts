import { Tokenizer } from 'htmlparser2'

export type Attributes = ReadonlyMap<string, string>

/** What the tokenizer of a marked-up text reports, in order. Tag and attribute names are lower-case in HTML. */
export interface MarkupHandler {
  open(name: string, attributes: Attributes): void
  close(name: string): void
  text(text: string): void
}

const NO_ATTRIBUTES: Attributes = new Map()

/**
 * Runs an HTML or XML text through the tokenizer of htmlparser2, character references decoded.
 *
 * Events, not a tree: no depth of nesting makes it slower than linear or overflows a stack, no DTD is read, no entity
 * of a document's own is expanded, and nothing external is ever looked up.
 *
 * @param xml keep the case of names, treat `<a/>` as closed
 * @param selfClosing treat `<a/>` as closed also where names are those of HTML, as XHTML has it
 */
export function readMarkup(source: string, handler: MarkupHandler, xml = false, selfClosing = xml): void {
  let tag = ''
  let attribute = ''
  let value: string[] = []
  let attributes: Map<string, string> | undefined
  const name = (start: number, end: number): string => {
    const raw = source.slice(start, end)
    return xml ? raw : raw.toLowerCase()
  }
  const tokenizer = new Tokenizer(
    { xmlMode: xml, decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = name(start, end)
        attributes = undefined
      },
      onattribname(start, end) {
        attribute = name(start, end)
        value = []
      },
      onattribdata: (start, end) => value.push(source.slice(start, end)),
      onattribentity: (codePoint) => value.push(String.fromCodePoint(codePoint)),
      onattribend() {
        attributes ??= new Map()
        if (!attributes.has(attribute)) attributes.set(attribute, value.join(''))
      },
      onopentagend: () => handler.open(tag, attributes ?? NO_ATTRIBUTES),
      onselfclosingtag() {
        handler.open(tag, attributes ?? NO_ATTRIBUTES)
        if (selfClosing) handler.close(tag)
      },
      onclosetag: (start, end) => handler.close(name(start, end)),
      ontext: (start, end) => handler.text(source.slice(start, end)),
      ontextentity: (codePoint) => handler.text(String.fromCodePoint(codePoint)),
      oncdata(start, end, endOffset) {
        if (xml) handler.text(source.slice(start, end - endOffset))
      },
      oncomment: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    },
  )
  tokenizer.write(source)
  tokenizer.end()
}
