import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT } from '../contract/errors.js'
import { CliError } from './cli-error.js'

/**
 * Writes an answer's bytes to a file, whole or not at all, or to stdout.
 *
 * @returns how many there were
 * @throws CliError exit 2 for a file that cannot be there, exit 1 where the disk does not take it
 */
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
    throw asWriteError(error, file)
  }
  return size
}

function asWriteError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('path' in error || error.syscall === 'write'))
    return error
  const exit = error.syscall === 'write' ? EXIT.failed : EXIT.usage
  return new CliError(`${JSON.stringify(file)} cannot be written: ${error.message}`, { exit, cause: error })
}
