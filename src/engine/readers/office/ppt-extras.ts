import type { Block, Picture } from '../parsed.js'
import { readBlipPicture } from './blips.js'
import { toCommentBlock } from './comments.js'
import { findRecord, type PptRecord, readRecord, readRecords } from './ppt-records.js'

const DRAWING_GROUP = 0x040b
const DGG_CONTAINER = 0xf000
const PICTURE_STORE = 0xf001
const STORED_PICTURE = 0xf007
/** Offset, in the entry of a stored picture, of the location of its bytes in the stream of pictures. */
const DELAY_OFFSET = 28
const OPTIONS = new Set([0xf00b, 0xf121, 0xf122])
/** Properties of shapes: number of the displayed picture, counted from 1, and its description. */
const PICTURE = 0x0104
const DESCRIPTION = 0x0381
const COMPLEX = 0x8000
const PROG_TAGS = 0x1388
const BINARY_TAG = 0x138a
const BINARY_DATA = 0x138b
const COMMENT = 0x2ee0
const STRING = 0x0fba
const SLIDE_INFO = 0x03f9
const HIDDEN = 0x04
const MAX_PICTURES = 10_000
const MAX_COMMENTS = 1000

/** Creates a lookup of the pictures of a presentation by the numbers that shapes use. */
export function createPictureLookup(document: PptRecord, stream: Buffer): (number: number) => Picture | undefined {
  const group = findRecord(document.body, DRAWING_GROUP)
  const container = group === undefined ? undefined : findRecord(group.body, DGG_CONTAINER)
  const store = container === undefined ? undefined : findRecord(container.body, PICTURE_STORE)
  const offsets: number[] = []
  for (const { type, body } of store === undefined ? [] : readRecords(store.body)) {
    if (offsets.length >= MAX_PICTURES) break
    offsets.push(type === STORED_PICTURE && body.length >= DELAY_OFFSET + 4 ? body.readUInt32LE(DELAY_OFFSET) : -1)
  }
  return (number) => {
    const offset = offsets[number - 1]
    const record = offset === undefined || offset < 0 ? undefined : readRecord(stream, offset)
    // including its header, which identifies it
    return offset === undefined || record === undefined
      ? undefined
      : readBlipPicture(stream.subarray(offset, offset + 8 + record.body.length))
  }
}

/** Number and description of the picture in a shape; undefined without a picture. */
export function readShapePicture(shape: PptRecord): { number: number; alt: string } | undefined {
  let number = 0
  let alt = ''
  for (const { type, instance, body } of readRecords(shape.body)) {
    if (!OPTIONS.has(type)) continue
    let complexOffset = instance * 6
    for (let index = 0; index < instance && index * 6 + 6 <= body.length; index++) {
      const name = body.readUInt16LE(index * 6)
      const value = body.readUInt32LE(index * 6 + 2)
      if ((name & 0x3fff) === PICTURE && (name & COMPLEX) === 0) number = value
      if ((name & COMPLEX) === 0) continue
      if ((name & 0x3fff) === DESCRIPTION)
        alt = body.subarray(complexOffset, complexOffset + Math.min(value, 4000)).toString('utf16le')
      complexOffset += value
    }
  }
  return number === 0
    ? undefined
    : {
        number,
        alt: alt
          .replace(/\0[\s\S]*$/, '')
          .replace(/\s+/g, ' ')
          .trim(),
      }
}

/** Reads the comments on a slide (MS-PPT 2.5.21). */
export function readComments(slide: PptRecord): Block[] {
  const blocks: Block[] = []
  for (const tags of readRecords(slide.body)) {
    if (tags.type !== PROG_TAGS) continue
    for (const tag of readRecords(tags.body)) {
      const data = tag.type === BINARY_TAG ? findRecord(tag.body, BINARY_DATA) : undefined
      for (const { type, body } of data === undefined ? [] : readRecords(data.body)) {
        if (type !== COMMENT || blocks.length >= MAX_COMMENTS) continue
        const strings = new Map<number, string>()
        for (const field of readRecords(body))
          if (field.type === STRING) strings.set(field.instance, field.body.toString('utf16le'))
        const text = (strings.get(1) ?? '').trim()
        if (text !== '') blocks.push(toCommentBlock({ author: strings.get(0) ?? '', text }))
      }
    }
  }
  return blocks
}

/** Whether a slide is hidden in the show. */
export function isHiddenSlide(slide: PptRecord): boolean {
  const info = findRecord(slide.body, SLIDE_INFO)
  return info !== undefined && info.body.length >= 12 && (info.body.readUInt16LE(10) & HIDDEN) !== 0
}
