import { expect, it } from 'vitest'
import { numbers } from '../../../bench/lib/words.js'
import { ReadError } from '../../../src/engine/parse/limits.js'
import { read, readInside } from './read.js'
import { makeTnef } from './tnef-message.js'

const MESSAGE = makeTnef()

it('winmail.dat: the text of a message of Outlook, and what is attached to it as documents of their own', async () => {
  const { document, files } = await readInside('winmail.dat', MESSAGE)
  expect([document.title, document.mediaType]).toEqual(['About boats', 'application/vnd.ms-tnef'])
  expect(document.text).toBe('The ferry is late.\n\nAttachment: timetable of ferries.txt')
  expect(files).toEqual({ 'timetable of ferries.txt': 'It sails at nine.' })
})

it('winmail.dat of any broken kind is read or told', async () => {
  const random = numbers(5)
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
