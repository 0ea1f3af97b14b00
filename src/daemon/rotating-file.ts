import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'

export interface RotatingFile {
  write(line: string): void
  close(): void
}

/**
 * A log file of limited size: when `path` is full, it is renamed to `path.1`, that to `path.2` and so on, and the
 * oldest is deleted. Lines are written at once, so that none is missing after a crash.
 */
export function openRotatingFile(path: string, options: { maxBytes: number; files: number }): RotatingFile {
  let descriptor: number | undefined = openSync(path, 'a', 0o600)
  let size = fstatSync(descriptor).size
  /** whether the last line is incomplete because the disk was full */
  let isTorn = size > 0 && !endsWithNewline(path, size)

  /** Renames the full file; the next line creates a new one. */
  const rotate = () => {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
    rmSync(`${path}.${options.files - 1}`, { force: true })
    for (let index = options.files - 2; index >= 0; index--) {
      const source = index === 0 ? path : `${path}.${index}`
      try {
        renameSync(source, `${path}.${index + 1}`)
      } catch {
        // Does not exist yet.
      }
    }
    size = 0
    isTorn = false
  }

  return {
    write: (line) => {
      try {
        if (size > 0 && size + Buffer.byteLength(line) > options.maxBytes) rotate()
        // A full disk may also prevent the creation of the new file.
        descriptor ??= openSync(path, 'a', 0o600)
        const bytes = Buffer.from(isTorn ? `\n${line}` : line)
        const written = writeSync(descriptor, bytes)
        size += written
        isTorn = written < bytes.length
      } catch {
        // A full disk must not stop the daemon; the next line tries again.
      }
    },
    close: () => {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}

function endsWithNewline(path: string, size: number): boolean {
  const last = Buffer.alloc(1)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, last, 0, 1, size - 1)
  } finally {
    closeSync(descriptor)
  }
  return last.toString('latin1') === '\n'
}
