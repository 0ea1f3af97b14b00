import { closeSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'

export interface RotatingFile {
  write(line: string): void
  close(): void
}

/**
 * A log file of bounded size: `path` is renamed to `path.1`, that to `path.2` and so on once it is full, and the
 * oldest goes. Lines are written at once, so the last ones before a crash are there.
 */
export function openRotatingFile(path: string, options: { maxBytes: number; files: number }): RotatingFile {
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size

  const rotate = () => {
    closeSync(file)
    rmSync(`${path}.${options.files - 1}`, { force: true })
    for (let index = options.files - 2; index >= 0; index--) {
      const from = index === 0 ? path : `${path}.${index}`
      try {
        renameSync(from, `${path}.${index + 1}`)
      } catch {
        // not written yet
      }
    }
    file = openSync(path, 'a', 0o600)
    size = 0
  }

  return {
    write: (line) => {
      const bytes = Buffer.byteLength(line)
      if (size > 0 && size + bytes > options.maxBytes) rotate()
      try {
        writeSync(file, line)
        size += bytes
      } catch {
        // a full disk must not stop the daemon from answering; the next line tries again
      }
    },
    close: () => closeSync(file),
  }
}
