import { createHash, type Hash, hash } from 'node:crypto'
import { type FileHandle, lstat, mkdir, open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { KsError } from '../../contract/errors.js'
import { toDiskError, withDiskErrors } from '../../local/disk-error.js'
import { ignoreMissing, syncPath } from '../../local/file-system.js'
import { OBJECT_MODE, writeDurably } from './durable-files.js'
import { listSortedNames } from './folder-entries.js'
import { forEachChunk } from './for-each-chunk.js'
import type { StagedFile, StagedObject } from './objects.js'

const MAX_IN_MEMORY_BYTES = 32 * 1024
const STAGED_NAME = /^[0-9a-f-]{36}$/

/** Incoming bytes, in memory or in temporary files of this machine, until they are published. */
export class Staging {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Opens the folder and removes incomplete uploads of an earlier process. */
  static async open(folder: string): Promise<Staging> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) {
      if (!STAGED_NAME.test(name)) continue
      const path = join(folder, name)
      if ((await lstat(path).catch(ignoreMissing))?.isFile() === true) await unlink(path).catch(ignoreMissing)
    }
    return new Staging(folder)
  }

  path(id: string): string {
    return join(this.#folder, id)
  }

  /**
   * Receives a stream. A small object stays in memory, so that many are written together; a larger one is written to a
   * temporary file as it arrives.
   * @throws KsError `upload-too-large` past `limit` bytes
   */
  async receive(id: string, content: Readable, limit: number, name: string): Promise<StagedObject> {
    const chunks: Buffer[] = []
    let size = 0
    let large: { file: FileHandle; hash: Hash } | undefined
    const spill = async (chunk: Buffer) => {
      large ??= { file: await open(this.path(id), 'wx', OBJECT_MODE), hash: createHash('sha256') }
      const next = chunks.length === 0 ? chunk : Buffer.concat([...chunks.splice(0), chunk])
      large.hash.update(next)
      // not write(): a nearly full disk may write fewer bytes without an error
      await large.file.writeFile(next)
    }
    try {
      await forEachChunk(content, (chunk) => {
        size += chunk.length
        if (size > limit)
          throw new KsError(
            'upload-too-large',
            `${JSON.stringify(name)} is over the limit of ${limit} bytes for one file`,
          )
        if (size > MAX_IN_MEMORY_BYTES) return spill(chunk)
        chunks.push(chunk)
        return undefined
      })
    } catch (error) {
      await large?.file.close()
      if (large !== undefined) await this.discard(id)
      throw toDiskError(error) ?? error
    }
    if (large !== undefined) {
      await large.file.close()
      return { id, sha256: large.hash.digest('hex'), size }
    }
    // a copy: a chunk may keep a much larger buffer alive
    const bytes = Buffer.concat(chunks)
    return { id, sha256: hash('sha256', bytes), size, bytes }
  }

  /** Makes the bytes durable under their temporary names; also a second time, where a publication failed. */
  async sync(staged: readonly StagedObject[]): Promise<void> {
    const written = staged.map(({ id, bytes }) => {
      const path = this.path(id)
      return bytes === undefined ? syncPath(path) : writeDurably(path, bytes)
    })
    // a discard after a failure must not overtake a write that is still running
    await Promise.allSettled(written)
    await withDiskErrors(() => Promise.all(written))
  }

  async discard(id: string): Promise<void> {
    await unlink(this.path(id)).catch(ignoreMissing)
  }

  /** Files that are being received or are leftovers, by their ids. */
  async list(): Promise<StagedFile[]> {
    const found: StagedFile[] = []
    for (const id of await listSortedNames(this.#folder)) {
      if (!STAGED_NAME.test(id)) continue
      const stat = await lstat(this.path(id)).catch(ignoreMissing)
      if (stat?.isFile() !== true) continue
      const { size, mtimeMs: modifiedAt, ctimeMs: changedAt } = stat
      found.push({ id, size, modifiedAt, changedAt })
    }
    return found
  }
}
