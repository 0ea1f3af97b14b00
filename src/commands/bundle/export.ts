import { existsSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { showByteProgress } from '../../cli/bundle/progress.js'
import { CliError, usageError } from '../../cli/cli-error.js'
import { listenForInterrupt } from '../../cli/interrupt.js'
import type { ExportedBundle } from '../../cli/json-output/machine.js'
import { localPath } from '../../cli/local-path.js'
import { saveBody } from '../../cli/save-body.js'
import { formatBytes } from '../../cli/units.js'
import { EXIT } from '../../contract/errors.js'
import { pluralize } from '../../lib/text/pluralize.js'

export default class BundleExport extends BaseCommand {
  static override summary = 'export spaces to one file that another service can import'
  static override description =
    'The file contains a consistent snapshot of the spaces: documents, vectors, answers, questions and workspaces. It has no keys, but everything that people wrote: keep it private. Needs a token with every scope.'
  static override examples = [
    '<%= config.bin %> bundle export example-space -o example-space.tar',
    '<%= config.bin %> bundle export example-space notes -o spaces.tar --force',
  ]
  static override strict = false
  static override args = { space: Args.string({ required: true, description: 'slugs or ids of spaces' }) }
  static override flags = {
    output: Flags.string({
      char: 'o',
      aliases: ['out'],
      required: true,
      ...localPath,
      helpValue: 'file',
      description: 'file to write, or - for stdout',
    }),
    force: Flags.boolean({ description: 'replace an existing file' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(BundleExport)
    const file = flags.output === '-' ? undefined : flags.output
    if (file === undefined && process.stdout.isTTY) throw usageError('a bundle is not written to a terminal')
    if (file !== undefined && !flags.force && existsSync(file))
      throw new CliError(`${JSON.stringify(file)} exists already`, {
        code: 'exists',
        exit: EXIT.conflict,
        hint: '`--force` replaces it',
      })
    const ids = new Set<string>()
    for (const name of argv) ids.add((await this.resolveSpace(String(name))).id)
    const client = await this.client()
    const body = await client.download('GET /knowledge-spaces/bundle', { query: { ids: [...ids].join(',') } })
    const progress = showByteProgress(this.out, 'written')
    const interrupt = listenForInterrupt(this.deadline.signal)
    const stop = () => body.destroy(interrupt.signal.reason)
    interrupt.signal.addEventListener('abort', stop, { once: true })
    body.on('data', (chunk: Buffer) => progress.add(chunk.length))
    try {
      const size = await saveBody(body, file)
      if (file === undefined) return
      if (this.out.isJson) this.out.json({ file, bytes: size, spaces: [...ids] } satisfies ExportedBundle)
      else this.out.line(`${file}: ${pluralize(ids.size, 'space')}, ${formatBytes(size)}`)
    } catch (error) {
      if (interrupt.wasInterrupted()) throw interrupt.signal.reason
      throw toExportError(error)
    } finally {
      progress.end()
      interrupt.stopListening()
    }
  }
}

/** The service closes the connection if it cannot complete a bundle. */
function toExportError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ECONNRESET') return error
  return new CliError('the bundle ended early, and nothing was written', {
    code: 'unreachable',
    exit: EXIT.unavailable,
    hint: 'the log of the daemon has the reason; `ks fsck` finds damaged parts of a space',
    cause: error,
  })
}
