import { expect, it } from 'vitest'
import { createRandom } from '../../../bench/lib/words.js'
import { ReadError } from '../../../src/engine/readers/limits.js'
import { decompressRtf } from '../../../src/engine/readers/mail/compressed-rtf.js'
import { read, readInside } from './read.js'
import { attribute, makeTnef, u32 } from './tnef-message.js'

const MESSAGE = makeTnef()

it('winmail.dat gives the text of the Outlook message, and its attachments as separate documents', async () => {
  const { document, files } = await readInside('winmail.dat', MESSAGE)
  expect([document.title, document.mediaType]).toEqual(['About boats', 'application/vnd.ms-tnef'])
  expect(document.text).toBe('The ferry is late.\n\nAttachment: timetable of ferries.txt')
  expect(files).toEqual({ 'timetable of ferries.txt': 'It sails at nine.' })
})

/** Compressed RTF without repetitions; `tail` is appended to the compressed bytes. */
function compressed(text: string, tail: Buffer = Buffer.alloc(0)): Buffer {
  const source = Buffer.from(text, 'latin1')
  const groups: Buffer[] = []
  for (let from = 0; from < source.length; from += 8) groups.push(Buffer.from([0]), source.subarray(from, from + 8))
  const body = Buffer.concat([...groups, tail])
  return Buffer.concat([u32(body.length + 12, source.length + 100), Buffer.from('LZFu'), u32(0), body])
}

it('compressed RTF is expanded from its dictionary, also for references beyond the written part', () => {
  // The examples of MS-OXRTFCP 4.1.
  const words = Buffer.from(
    '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
    'hex',
  )
  expect(decompressRtf(words).toString('latin1')).toBe('{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n')
  const over = Buffer.from('1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0', 'hex')
  expect(decompressRtf(over).toString('latin1')).toBe('{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}')
})

it('winmail.dat with compressed RTF as only text is read by the RTF reader', async () => {
  const rtf = compressed("{\\rtf1\\ansi Gr\\u252?\\'dfe aus dem Hafen.\\par Zweiter Absatz.\\par}")
  const property = Buffer.concat([
    u32(1),
    u32(0x1009_0102),
    u32(1, rtf.length),
    rtf,
    Buffer.alloc((4 - (rtf.length % 4)) % 4),
  ])
  const message = Buffer.concat([u32(0x223e9f78), Buffer.from([1, 0]), attribute(0x00069003, property)])
  const { text } = await read('winmail.dat', message)
  expect(text).toContain('Zweiter Absatz.')
  expect(text).not.toContain('rtf1')
})

it('winmail.dat with random damage is read or fails with a read error', async () => {
  const random = createRandom(5)
  for (let round = 0; round < 200; round++) {
    const copy = Buffer.from(MESSAGE)
    for (let change = 0; change < 1 + random() * 6; change++)
      copy[4 + Math.floor(random() * (copy.length - 4))] = Math.floor(random() * 256)
    const bytes = random() < 0.3 ? copy.subarray(0, 6 + Math.floor(random() * copy.length)) : copy
    try {
      await read('winmail.dat', bytes)
    } catch (error) {
      expect([round, error]).toEqual([round, expect.any(ReadError)])
    }
  }
})
