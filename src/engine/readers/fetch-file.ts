import type { FileAnswer, FileQuestion } from './file-feed.js'

/**
 * Fetches all bytes of a file of the current request from the parent process, which opens it.
 *
 * @throws Error with the code of the system's error
 */
export async function fetchFile(index: number): Promise<Buffer> {
  let bytes: Buffer | undefined
  for (let offset = 0; ; ) {
    const answer = await askParent({ kind: 'file', index, offset })
    if (answer.kind === 'no-bytes') throw Object.assign(new Error(answer.code), { code: answer.code })
    bytes ??= Buffer.allocUnsafeSlow(answer.size)
    bytes.set(answer.bytes, offset)
    offset += answer.bytes.length
    // A file that is truncated meanwhile ends early.
    if (answer.bytes.length === 0 || offset >= bytes.length) return bytes.subarray(0, offset)
  }
}

function askParent(question: FileQuestion): Promise<FileAnswer> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FileAnswer | { kind?: undefined }): void => {
      if (message.kind !== 'bytes' && message.kind !== 'no-bytes') return
      process.off('message', onMessage)
      resolve(message)
    }
    process.on('message', onMessage)
    process.send?.(question, (error: Error | null) => (error === null ? undefined : reject(error)))
  })
}
