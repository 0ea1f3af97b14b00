import { type Attributes, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'

/** Maximal number of comments of one document, and of characters of a comment. */
const MAX_COMMENTS = 5000
const MAX_TEXT = 20_000
/** Text that Excel puts before a comment of a thread, for programs that do not support threads. */
const THREAD_NOTICE = /^\[Threaded comment\][\s\S]{0,1000}?\n(?:Comment:\s*)/

/** A comment in a document, as stored in its part of the package. */
export interface DocumentComment {
  /** `w:id` in Word documents. */
  id: string
  author: string
  /** In sheets, the cell to which it belongs. */
  cell?: string
  text: string
}

/** Converts a comment to a paragraph that states that it is a comment, and by whom. */
export function toCommentBlock({ author, cell, text }: Pick<DocumentComment, 'author' | 'cell' | 'text'>): Block {
  return { type: 'paragraph', text: `${formatCommentHead(author, cell)}${text}`, metadata: { role: 'comment' } }
}

/** The text before the words of a comment. */
export function formatCommentHead(author: string, cell?: string): string {
  const by = author.trim() === '' ? '' : ` by ${author.trim().slice(0, 200)}`
  return `Comment${by}${cell === undefined ? '' : ` on ${cell}`}: `
}

/** Reads authors by id from the separate part of a presentation. */
export function parseAuthors(xml: string): Map<string, string> {
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
    'xml',
  )
  return authors
}

/**
 * Parses the comments in a part of a Word, Excel or PowerPoint package: `w:comment`, `comment`, `p:cm` and its replies.
 *
 * @param authors authors of a presentation by id; other formats contain them in the comments
 */
export function parseComments(xml: string, authors: ReadonlyMap<string, string> = new Map()): DocumentComment[] {
  const comments: DocumentComment[] = []
  const open: DocumentComment[] = []
  const listedAuthors: string[] = []
  let inText = false
  let inAuthor = false
  const startComment = (attributes: Attributes): void => {
    const authorId = attributes.get('authorId') ?? ''
    const author = attributes.get('w:author') ?? authors.get(authorId) ?? listedAuthors[Number(authorId)] ?? ''
    const cell = attributes.get('ref')
    const id = attributes.get('w:id') ?? ''
    const comment: DocumentComment = {
      id,
      author,
      text: '',
      ...(cell === undefined ? {} : { cell: cell.slice(0, 20) }),
    }
    open.push(comment)
    if (comments.length < MAX_COMMENTS) comments.push(comment)
  }
  const appendText = (text: string): void => {
    const last = open.at(-1)
    if (last !== undefined && last.text.length < MAX_TEXT) last.text += text
  }
  readMarkup(
    xml,
    {
      open(name, attributes) {
        if (/^(?:w:comment|(?:\w+:)?cm|comment|\w+:reply)$/.test(name)) startComment(attributes)
        else if (isTextElement(name)) inText = true
        else if (name === 'author') {
          inAuthor = true
          listedAuthors.push('')
        } else if (/:(?:br|tab)$/.test(name)) appendText(' ')
      },
      close(name) {
        if (/^(?:w:comment|(?:\w+:)?cm|comment|\w+:reply)$/.test(name)) open.pop()
        else if (isTextElement(name)) inText = false
        else if (name === 'author') inAuthor = false
        else if (/^[wa]:p$/.test(name)) appendText('\n')
      },
      text(text) {
        if (inText) appendText(text)
        else if (inAuthor) listedAuthors[listedAuthors.length - 1] += text.slice(0, 200)
      },
    },
    'xml',
  )
  return comments
    .map((comment) => ({ ...comment, text: comment.text.replace(THREAD_NOTICE, '').trim() }))
    .filter(({ text }) => text !== '')
}

/** Whether an element contains a run of text; in older presentations the entire text. */
function isTextElement(name: string): boolean {
  return name === 't' || name === 'w:t' || name === 'a:t' || name === 'p:text'
}
