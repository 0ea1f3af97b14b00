import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
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
import { writeOut } from './terminal-writer.js'

/** Writes text to a file, as `saveBody` does. */
export async function saveText(text: string, file: string): Promise<void> {
  await saveBody(Readable.from([Buffer.from(text)]), file)
}

/**
 * Writes a response body to a file, completely or not at all, or to stdout: unchanged to a pipe, escaped for a
 * terminal. An existing link is replaced, not followed; a pipe or device gets the bytes as they arrive. Only the owner
 * can read the file: its content may be hidden from others by permissions.
 *
 * @param stage a pager or filter before stdout, which takes text
 * @returns the number of bytes
 * @throws CliError exit 2 for an invalid path, exit 4 without permission, exit 1 if the write fails
 */
export async function saveBody(body: Readable, file: string | undefined, stage?: OutStream): Promise<number> {
  let size = 0
  body.on('data', (chunk: Buffer) => {
    size += chunk.byteLength
  })
  if (file === undefined) {
    if (stage !== undefined)
      for await (const text of decodeText(body)) stage.write(stage.isTTY === true ? tty(text) : text)
    else await writeToStdout(process.stdout.isTTY ? escapeForTerminal(body) : body)
    return size
  }
  // A random name: no other user can have created a link at this path.
  const partial = join(dirname(file), `.${randomBytes(6).toString('hex')}.part`)
  try {
    const isStream = isStreamTarget(file)
    await pipeline(body, createWriteStream(isStream ? file : partial, { flags: isStream ? 'w' : 'wx', mode: 0o600 }))
    if (!isStream) await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw toWriteError(error, file)
  }
  return size
}

/** A pipeline would leave its listeners on stdout, and a command writes several bodies. */
async function writeToStdout(chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  for await (const chunk of chunks) if (!writeOut(chunk)) await once(process.stdout, 'drain')
}

/** Decodes and escapes bytes for a terminal. */
async function* escapeForTerminal(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const text of decodeText(body)) yield tty(text)
}

async function* decodeText(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** Whether the target is a pipe or a device; `/dev/stdout` counts as one even if it is a file. */
function isStreamTarget(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return false
  return !stats.isFile() || /^\/(dev|proc)\//.test(resolve(file))
}

function toWriteError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('path' in error || error.syscall === 'write'))
    return error
  const isForbidden = ['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')
  const exit = error.syscall === 'write' ? EXIT.failed : isForbidden ? EXIT.notAllowed : EXIT.usage
  return new CliError(`${JSON.stringify(file)} cannot be written: ${error.message}`, { exit, cause: error })
}
