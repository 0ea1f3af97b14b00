import { readCompound } from '../office/compound.js'
import { Stories } from '../office/doc-stories.js'
import { readSlides } from '../office/ppt-document.js'
import { type PptRecord, readRecords } from '../office/ppt-records.js'
import { tokenizeRtf } from '../office/rtf-tokens.js'
import type { FileText } from '../parsed.js'
import { findMessageTexts } from './html-texts.js'
import type { CountedFile } from './markup-texts.js'

type Visit = (text: FileText) => void

const WORD_97 = 0xa5ec
const SECOND_TABLE = 0x0200
/** Texts of the placeholders of all slides, and records of characters (MS-PPT 2.4.14.3, 2.9.42, 2.9.43). */
const SLIDE_LIST = 0x0ff0
const TEXT_CHARS = 0x0fa0
const TEXT_BYTES = 0x0fa8
const MAX_DEPTH = 20
/** Groups of Rich Text Format without text for readers; of the others with `*`, these have some. */
const RTF_SKIPPED = new Set(
  'fonttbl colortbl stylesheet info pict objdata listtable listoverridetable fldinst revtbl filetbl pntext listtext sn sv'.split(
    ' ',
  ),
)
const RTF_STARRED = new Set('shpinst annotation'.split(' '))
const RTF_BREAKS = new Set(
  'par line cell row tab page sect emdash endash bullet nestcell nestrow emspace enspace'.split(' '),
)
const RTF_REPEATED = /^(?:header|footer)[lrf]?$/
/** In place of a character outside of ASCII: words with one depend on code pages, and are not counted. */
const OTHER = 'ÿ'

/** Streams of an Outlook message with its text, and with the same as HTML. */
const MESSAGE_TEXT = /__substg1\.0_1000001F$/
const MESSAGE_HTML = /__substg1\.0_1013001F$/
const NONE = Buffer.alloc(0)

/** Finds the texts of a document of Word 97 to 2003: all characters that its pieces have, also those of no story. */
export function findDocTexts({ bytes, filename }: CountedFile, visit: Visit): void {
  const streams = readCompound(bytes, filename)
  const main = streams.get('WordDocument') ?? NONE
  if (main.length < 12 || main.readUInt16LE(0) !== WORD_97) return
  const table = streams.get((main.readUInt16LE(10) & SECOND_TABLE) === 0 ? '0Table' : '1Table')
  if (table === undefined) return
  const stories = new Stories(main, table, streams.get('Data'), filename)
  const { body, footnotes, margins, comments, endnotes, boxes } = stories.lengths
  const ranges: [length: number, construct: string, isRepeated: boolean][] = [
    [body, 'text', false],
    [footnotes, 'footnotes', false],
    [margins, 'headers and footers', true],
    [comments, 'comments', false],
    [endnotes, 'endnotes', false],
    [boxes, 'text boxes', true],
    [stories.length, 'text boxes of headers', true],
  ]
  let start = 0
  for (const [length, construct, isRepeated] of ranges) {
    for (const { text } of stories.paragraphs(start, start + length)) visit({ text, construct, isRepeated })
    start += length
  }
}

/** Finds the texts of the slides and notes of a presentation of PowerPoint 97 to 2003. */
export function findPptTexts({ bytes, filename }: CountedFile, visit: Visit): void {
  const streams = readCompound(bytes, filename)
  const { root, slides } = readSlides(
    streams.get('PowerPoint Document') ?? NONE,
    streams.get('Current User') ?? NONE,
    filename,
  )
  for (const list of readRecords(root.body))
    if (list.type === SLIDE_LIST && list.instance === 0)
      visitRecords(list, 'text', (text) => visit({ ...text, isRepeated: false }))
  for (const { record, notes } of slides) {
    if (record !== undefined) visitRecords(record, 'text', visit)
    if (notes !== undefined) visitRecords(notes, 'speaker notes', visit)
  }
}

function visitRecords({ body }: PptRecord, construct: string, visit: Visit, depth = 0): void {
  for (const record of readRecords(body)) {
    const encoding = record.type === TEXT_CHARS ? 'utf16le' : record.type === TEXT_BYTES ? 'latin1' : undefined
    if (encoding !== undefined) visit({ text: record.body.toString(encoding), construct, isRepeated: true })
    else if (record.isContainer && depth < MAX_DEPTH) visitRecords(record, construct, visit, depth + 1)
  }
}

/** Finds the texts of an Outlook message, and of messages in it. */
export function findOutlookTexts({ bytes, filename }: CountedFile, visit: Visit): void {
  for (const [name, stream] of readCompound(bytes, filename)) {
    const text = stream.toString('utf16le')
    if (MESSAGE_TEXT.test(name)) visit({ text, construct: 'text' })
    else if (MESSAGE_HTML.test(name))
      findMessageTexts(text, (found) => visit({ ...found, construct: 'HTML', isRepeated: true }))
  }
}

/** Finds the texts of a file in Rich Text Format, as far as they are in ASCII. */
export function findRtfTexts({ bytes }: CountedFile, visit: Visit): void {
  const groups: { isSkipped: boolean; isRepeated: boolean }[] = []
  let group = { isSkipped: false, isRepeated: false }
  let isStarred = false
  let isFirst = false
  let text = ''
  const flush = (): void => {
    visit({ text: text.replace(/\S{0,200}ÿ\S{0,200}/g, ' '), construct: 'text', isRepeated: group.isRepeated })
    text = ''
  }
  tokenizeRtf(bytes.toString('latin1'), {
    open() {
      groups.push(group)
      group = { ...group }
      isFirst = true
      isStarred = false
    },
    close() {
      const outer = groups.pop() ?? group
      if (outer.isRepeated !== group.isRepeated) flush()
      group = outer
    },
    control(word) {
      if (word === '*') isStarred = true
      else if (isFirst) {
        isFirst = false
        if (RTF_SKIPPED.has(word) || (isStarred && !RTF_STARRED.has(word))) group.isSkipped = true
        else if (RTF_REPEATED.test(word)) {
          flush()
          group.isRepeated = true
        }
      }
      if (group.isSkipped) return
      if (RTF_BREAKS.has(word)) flush()
      else if (word === 'u') text += OTHER
    },
    text(found) {
      isFirst = false
      if (!group.isSkipped) text += found.replace(/[\x80-\xff]/g, OTHER)
    },
  })
  flush()
}
