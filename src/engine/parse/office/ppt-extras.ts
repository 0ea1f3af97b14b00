import type { Block, Picture } from '../parsed.js'
import { pictureOfBlip } from './blips.js'
import { firstOf, type PptRecord, recordAt, recordsIn } from './ppt-records.js'
import { remarkBlock } from './remarks.js'

const DRAWING_GROUP = 0x040b
const DGG_CONTAINER = 0xf000
const STORE = 0xf001
const STORED = 0xf007
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
const MAX_STORED = 10_000
const MAX_COMMENTS = 1000

/** Creates a lookup of the pictures of a presentation by the numbers that shapes use. */
export function storedPictures(document: PptRecord, stream: Buffer): (number: number) => Picture | undefined {
  const group = firstOf(document.body, DRAWING_GROUP)
  const container = group === undefined ? undefined : firstOf(group.body, DGG_CONTAINER)
  const store = container === undefined ? undefined : firstOf(container.body, STORE)
  const places: number[] = []
  for (const { type, body } of store === undefined ? [] : recordsIn(store.body)) {
    if (places.length >= MAX_STORED) break
    places.push(type === STORED && body.length >= DELAY_OFFSET + 4 ? body.readUInt32LE(DELAY_OFFSET) : -1)
  }
  return (number) => {
    const at = places[number - 1]
    const record = at === undefined || at < 0 ? undefined : recordAt(stream, at)
    // including its header, which identifies it
    return at === undefined || record === undefined
      ? undefined
      : pictureOfBlip(stream.subarray(at, at + 8 + record.body.length))
  }
}

/** Number and description of the picture in a shape; undefined without a picture. */
export function pictureOfShape(shape: PptRecord): { number: number; alt: string } | undefined {
  let number = 0
  let alt = ''
  for (const { type, instance, body } of recordsIn(shape.body)) {
    if (!OPTIONS.has(type)) continue
    let complexAt = instance * 6
    for (let index = 0; index < instance && index * 6 + 6 <= body.length; index++) {
      const name = body.readUInt16LE(index * 6)
      const value = body.readUInt32LE(index * 6 + 2)
      if ((name & 0x3fff) === PICTURE && (name & COMPLEX) === 0) number = value
      if ((name & COMPLEX) === 0) continue
      if ((name & 0x3fff) === DESCRIPTION)
        alt = body.subarray(complexAt, complexAt + Math.min(value, 4000)).toString('utf16le')
      complexAt += value
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
export function commentsOf(slide: PptRecord): Block[] {
  const blocks: Block[] = []
  for (const tags of recordsIn(slide.body)) {
    if (tags.type !== PROG_TAGS) continue
    for (const tag of recordsIn(tags.body)) {
      const data = tag.type === BINARY_TAG ? firstOf(tag.body, BINARY_DATA) : undefined
      for (const { type, body } of data === undefined ? [] : recordsIn(data.body)) {
        if (type !== COMMENT || blocks.length >= MAX_COMMENTS) continue
        const said = new Map<number, string>()
        for (const one of recordsIn(body)) if (one.type === STRING) said.set(one.instance, one.body.toString('utf16le'))
        const text = (said.get(1) ?? '').trim()
        if (text !== '') blocks.push(remarkBlock({ author: said.get(0) ?? '', text }))
      }
    }
  }
  return blocks
}

/** Whether a slide is hidden in the show. */
export function isHiddenSlide(slide: PptRecord): boolean {
  const info = firstOf(slide.body, SLIDE_INFO)
  return info !== undefined && info.body.length >= 12 && (info.body.readUInt16LE(10) & HIDDEN) !== 0
}
