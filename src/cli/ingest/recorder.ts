import { join } from 'node:path'
import { ApiError } from '../../client/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { HashedFile } from './known-files.js'
import type { IngestService } from './recovering-service.js'

/**
 * Reports the source files of documents to the local daemon, so that it can detect changes and a watch of their
 * folder can adopt them. Stops after the first refusal of a daemon without access to local files.
 */
export class FileRecorder {
  readonly #client: IngestService
  readonly #spaceId: string
  #isEnabled = true

  constructor(client: IngestService, spaceId: string) {
    this.#client = client
    this.#spaceId = spaceId
  }

  /** @param files at most the number that one request may contain */
  async record(files: readonly HashedFile[]): Promise<void> {
    const folders = new Map<string | undefined, HashedFile[]>()
    for (const file of files) folders.set(file.folder, [...(folders.get(file.folder) ?? []), file])
    for (const [folder, group] of folders) if (this.#isEnabled) await this.#send(folder, group)
  }

  async #send(root: string | undefined, files: readonly HashedFile[]): Promise<void> {
    try {
      await this.#client.request('POST /knowledge-spaces/{id}/local-files', {
        path: { id: this.#spaceId },
        body: {
          ...omitUndefined({ root }),
          files: files.map(({ filename, path, relativePath, size, sha256, facts: { fingerprint, device } }) => ({
            filename,
            fingerprint,
            device,
            sizeBytes: size,
            sha256,
            path: root === undefined || relativePath === undefined ? path : join(root, relativePath),
          })),
        },
      })
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 403, 404, 501].includes(error.status)) throw error
      this.#isEnabled = false
    }
  }
}
