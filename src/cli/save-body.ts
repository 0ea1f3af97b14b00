import { randomBytes } from 'node:crypto'
import { createWriteStream, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errnoOf } from '../client/errors.js'
import { EXIT } from '../contract/errors.js'
import { CliError } from './cli-error.js'
import type { OutStream } from './output.js'
import { tty } from './terminal.js'

/** Writes text to a file like `saveBody`. */
export async function saveText(text: string, file: string): Promise<void> {
  await saveBody(Readable.from([Buffer.from(text)]), file)
}

/**
 * Writes an answer's bytes to a file, whole or not at all, or to stdout: as they are into a pipe, safe to be seen on a
 * terminal. A link in the place of the file is replaced and not followed; a pipe or a device takes the bytes as they come.
 * Only its owner may read the file: it may contain what a permission scope hides from others.
 *
 * @param between a pager or a filter before stdout, which takes text
 * @returns how many there were
 * @throws CliError exit 2 for a file that cannot be there, exit 4 where it may not be written, exit 1 where the disk does not take it
 */
export async function saveBody(body: Readable, file: string | undefined, between?: OutStream): Promise<number> {
  let size = 0
  body.on('data', (chunk: Buffer) => {
    size += chunk.byteLength
  })
  if (file === undefined) {
    if (between !== undefined)
      for await (const text of textOf(body)) between.write(between.isTTY === true ? tty(text) : text)
    else if (process.stdout.isTTY) await pipeline(body, asShown, process.stdout, { end: false })
    else await pipeline(body, process.stdout, { end: false })
    return size
  }
  // of a name that nobody can have put a link under before
  const partial = join(dirname(file), `.${randomBytes(6).toString('hex')}.part`)
  try {
    const isDevice = takesAsTheyCome(file)
    await pipeline(body, createWriteStream(isDevice ? file : partial, { flags: isDevice ? 'w' : 'wx', mode: 0o600 }))
    if (!isDevice) await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw asWriteError(error, file)
  }
  return size
}

/** Bytes that somebody looks at: as text in which nothing moves the cursor. */
async function* asShown(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const text of textOf(body)) yield tty(text)
}

async function* textOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of body) yield decoder.decode(piece, { stream: true })
  yield decoder.decode()
}

/** A pipe or a device; `/dev/stdout` is one also where it leads to a file. */
function takesAsTheyCome(file: string): boolean {
  const there = statSync(file, { throwIfNoEntry: false })
  if (there === undefined || there.isDirectory()) return false
  return !there.isFile() || /^\/(dev|proc)\//.test(resolve(file))
}

function asWriteError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('path' in error || error.syscall === 'write'))
    return error
  const mayNot = ['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')
  const exit = error.syscall === 'write' ? EXIT.failed : mayNot ? EXIT.notAllowed : EXIT.usage
  return new CliError(`${JSON.stringify(file)} cannot be written: ${error.message}`, { exit, cause: error })
}
