import { type Attributes, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'

/** Comments of one document, and characters of one. */
const MAX_REMARKS = 5000
const MAX_TEXT = 20_000
/** What Excel puts before a comment of a thread, for programs that know no threads. */
const THREAD_NOTICE = /^\[Threaded comment\][\s\S]{0,1000}?\n(?:Comment:\s*)/

/** A comment on a place of a document, as its part of the package holds it. */
export interface Remark {
  /** `w:id` in texts */
  id: string
  author: string
  /** of the cell that it is about, in sheets */
  cell?: string
  text: string
}

/** A comment as a paragraph of the text, which says that it is one and whose. */
export function remarkBlock({ author, cell, text }: Pick<Remark, 'author' | 'cell' | 'text'>): Block {
  return { type: 'paragraph', text: `${remarkHead(author, cell)}${text}`, metadata: { role: 'comment' } }
}

/** What stands before the words of a comment. */
export function remarkHead(author: string, cell?: string): string {
  const by = author.trim() === '' ? '' : ` by ${author.trim().slice(0, 200)}`
  return `Comment${by}${cell === undefined ? '' : ` on ${cell}`}: `
}

/** Authors by their ids, as a presentation lists them in a part of their own. */
export function authorsIn(xml: string): Map<string, string> {
  const authors = new Map<string, string>()
  readMarkup(
    xml,
    {
      open(name, attributes) {
        if (/(?:^|:)(?:cmAuthor|author)$/.test(name))
          authors.set(attributes.get('id') ?? '', attributes.get('name') ?? '')
      },
      close: () => undefined,
      text: () => undefined,
    },
    true,
  )
  return authors
}

/**
 * The comments in a part of a package of Word, Excel or PowerPoint: `w:comment`, `comment`, `p:cm` and its replies.
 *
 * @param authors of a presentation, by id; the others name them themselves
 */
export function remarksIn(xml: string, authors: ReadonlyMap<string, string> = new Map()): Remark[] {
  const remarks: Remark[] = []
  const open: Remark[] = []
  const listed: string[] = []
  let inText = false
  let inAuthor = false
  const start = (attributes: Attributes): void => {
    const authorId = attributes.get('authorId') ?? ''
    const author = attributes.get('w:author') ?? authors.get(authorId) ?? listed[Number(authorId)] ?? ''
    const cell = attributes.get('ref')
    const id = attributes.get('w:id') ?? ''
    const remark: Remark = { id, author, text: '', ...(cell === undefined ? {} : { cell: cell.slice(0, 20) }) }
    open.push(remark)
    if (remarks.length < MAX_REMARKS) remarks.push(remark)
  }
  const add = (text: string): void => {
    const last = open.at(-1)
    if (last !== undefined && last.text.length < MAX_TEXT) last.text += text
  }
  readMarkup(
    xml,
    {
      open(name, attributes) {
        if (/^(?:w:comment|(?:\w+:)?cm|comment|\w+:reply)$/.test(name)) start(attributes)
        else if (isText(name)) inText = true
        else if (name === 'author') {
          inAuthor = true
          listed.push('')
        } else if (/:(?:br|tab)$/.test(name)) add(' ')
      },
      close(name) {
        if (/^(?:w:comment|(?:\w+:)?cm|comment|\w+:reply)$/.test(name)) open.pop()
        else if (isText(name)) inText = false
        else if (name === 'author') inAuthor = false
        else if (/^[wa]:p$/.test(name)) add('\n')
      },
      text(text) {
        if (inText) add(text)
        else if (inAuthor) listed[listed.length - 1] += text.slice(0, 200)
      },
    },
    true,
  )
  return remarks
    .map((remark) => ({ ...remark, text: remark.text.replace(THREAD_NOTICE, '').trim() }))
    .filter(({ text }) => text !== '')
}

/** Runs of text; of older presentations the whole of it. */
function isText(name: string): boolean {
  return name === 't' || name === 'w:t' || name === 'a:t' || name === 'p:text'
}
