import { type Attributes, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'

/** Maximal number of comments of one document, and of characters of a comment. */
const MAX_REMARKS = 5000
const MAX_TEXT = 20_000
/** Text that Excel puts before a comment of a thread, for programs that do not support threads. */
const THREAD_NOTICE = /^\[Threaded comment\][\s\S]{0,1000}?\n(?:Comment:\s*)/

/** A comment in a document, as stored in its part of the package. */
export interface Remark {
  /** `w:id` in Word documents. */
  id: string
  author: string
  /** In sheets, the cell to which it belongs. */
  cell?: string
  text: string
}

/** Converts a comment to a paragraph that states that it is a comment, and by whom. */
export function remarkBlock({ author, cell, text }: Pick<Remark, 'author' | 'cell' | 'text'>): Block {
  return { type: 'paragraph', text: `${remarkHead(author, cell)}${text}`, metadata: { role: 'comment' } }
}

/** The text before the words of a comment. */
export function remarkHead(author: string, cell?: string): string {
  const by = author.trim() === '' ? '' : ` by ${author.trim().slice(0, 200)}`
  return `Comment${by}${cell === undefined ? '' : ` on ${cell}`}: `
}

/** Reads authors by id from the separate part of a presentation. */
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
 * Parses the comments in a part of a Word, Excel or PowerPoint package: `w:comment`, `comment`, `p:cm` and its replies.
 *
 * @param authors authors of a presentation by id; other formats contain them in the comments
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

/** Whether an element contains a run of text; in older presentations the entire text. */
function isText(name: string): boolean {
  return name === 't' || name === 'w:t' || name === 'a:t' || name === 'p:text'
}
