import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { showByteProgress } from '../../cli/bundle/progress.js'
import { usageError } from '../../cli/cli-error.js'
import { toUnreadableError } from '../../cli/input-file.js'
import { localPath } from '../../cli/local-path.js'
import { ApiError } from '../../client/errors.js'
import type { UploadPart } from '../../client/multipart.js'
import type { ImportedBundle } from '../../contract/gateway/bundles.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'

export default class BundleImport extends BaseCommand {
  static override summary = 'import the spaces of a bundle, all or none'
  static override description =
    'Ids are kept. With --as, the space becomes a copy with new ids, even in the same service. Nothing is visible before the import is complete. Needs a token with every scope.'
  static override examples = [
    '<%= config.bin %> bundle import example-space.tar',
    '<%= config.bin %> bundle import example-space.tar --as copy-of-example',
  ]
  static override args = {
    file: Args.string({ ...localPath, required: true, description: 'file to read, or - for stdin' }),
  }
  static override flags = {
    as: Flags.string({
      helpValue: 'slug',
      description: 'import a copy with new ids under this slug; only for a bundle of one space',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BundleImport)
    const { part, size } = await toUploadPart(args.file)
    const client = await this.client()
    const progress = showByteProgress(this.out, 'sent', size)
    const query = omitUndefined({ as: flags.as })
    const imported = await client
      .upload('POST /knowledge-spaces/bundle', { query, field: 'file', files: [part] }, progress.add)
      .catch(adviseCopy)
      .finally(progress.end)
    await this.printResult(imported)
  }

  private async printResult(imported: ImportedBundle): Promise<void> {
    if (this.out.isJson) this.out.json(imported)
    else
      await this.out.list(imported.spaces, {
        columns: [
          { field: 'slug', title: 'SPACE' },
          { field: 'id', kind: 'id' },
          { field: 'documents', kind: 'count' },
          { field: 'nodes', title: 'PASSAGES', kind: 'count' },
          { field: 'headRevision', title: 'REVISION', kind: 'count' },
        ],
        empty: 'The bundle contains no space.',
      })
    for (const { slug, withoutVectors, embeddingConfigured } of imported.spaces)
      if (!embeddingConfigured)
        this.out.warn(
          `ks: this service does not have the embedding model of ${JSON.stringify(slug)}: search uses words only until it is added (\`ks models add\`)`,
        )
      else if (withoutVectors > 0)
        this.out.warn(`ks: ${pluralize(withoutVectors, 'passage')} of ${JSON.stringify(slug)} has no vectors`)
  }
}

/** @throws the error, with a hint if the service already has the space */
function adviseCopy(error: unknown): never {
  if (!(error instanceof ApiError) || (error.code !== 'slug-taken' && error.code !== 'id-taken')) throw error
  throw new ApiError({
    ...error,
    message: error.message,
    hint: '`--as NAME` imports a copy with new ids under another slug',
  })
}

async function toUploadPart(file: string): Promise<{ part: UploadPart; size?: number }> {
  const mimeType = 'application/x-tar'
  if (file === '-') {
    if (process.stdin.isTTY) throw usageError('the bundle is read from stdin, but stdin is a terminal')
    return { part: { filename: 'bundle.tar', mimeType, content: { stream: process.stdin } } }
  }
  const fileInfo = await stat(file).catch((error: unknown) => {
    throw toUnreadableError('the bundle', file, error)
  })
  if (!fileInfo.isFile()) throw usageError(`${JSON.stringify(file)} is not a file`)
  return {
    part: { filename: basename(file), mimeType, content: { path: file, size: fileInfo.size } },
    size: fileInfo.size,
  }
}
