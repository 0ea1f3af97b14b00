import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Writes an answer's bytes to a file, whole or not at all, or to stdout. @returns how many there were */
export async function saveBody(body: Readable, file: string | undefined): Promise<number> {
  let size = 0
  body.on('data', (chunk: Buffer) => {
    size += chunk.byteLength
  })
  if (file === undefined) {
    await pipeline(body, process.stdout, { end: false })
    return size
  }
  const partial = `${file}.part`
  try {
    await pipeline(body, createWriteStream(partial))
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  return size
}
