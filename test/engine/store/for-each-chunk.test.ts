import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { forEachChunk } from '../../../src/engine/store/for-each-chunk.js'

const closed = (stream: Readable) => new Promise<void>((resolve) => void stream.once('close', () => resolve()))

it('chunks of a stream are processed one after another, and all of them before the end', async () => {
  const taken: string[] = []
  let isTaking = false
  await forEachChunk(Readable.from(['a', Buffer.from('b'), 'c']), async (piece) => {
    expect(isTaking).toBe(false)
    isTaking = true
    await sleep(5)
    isTaking = false
    taken.push(piece.toString())
  })
  expect(taken).toEqual(['a', 'b', 'c'])
})

it('a rejected chunk destroys the stream; the error of a stream is reported after the chunk in progress', async () => {
  const refused = new Error('no more')
  for (const refuse of [
    () => {
      throw refused
    },
    () => Promise.reject(refused),
  ]) {
    const stream = Readable.from(['a', 'b'])
    await expect(forEachChunk(stream, refuse)).rejects.toBe(refused)
    expect(stream.destroyed).toBe(true)
  }
  const cut = new PassThrough()
  let isTaken = false
  const taking = forEachChunk(cut, async () => {
    cut.destroy(new Error('gone'))
    await sleep(20)
    isTaken = true
  })
  cut.write('a')
  await expect(taking).rejects.toThrow('gone')
  expect(isTaken).toBe(true)
})

it('a stream that already ended is complete; a stream that failed or closed early causes an error', async () => {
  const ended = Readable.from([])
  ended.resume()
  await closed(ended)
  await forEachChunk(ended, () => undefined)
  const failed = new PassThrough()
  failed.on('error', () => {})
  failed.destroy(new Error('failed'))
  await closed(failed)
  await expect(forEachChunk(failed, () => undefined)).rejects.toThrow('failed')
  const cut = new PassThrough()
  const reading = forEachChunk(cut, () => undefined)
  cut.destroy()
  await expect(reading).rejects.toThrow('ended before it was complete')
})
