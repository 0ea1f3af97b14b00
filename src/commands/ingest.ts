import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { CliError, usageError } from '../cli/cli-error.js'
import { spaceFlag, waitFlag } from '../cli/common-flags.js'
import { walkFlags } from '../cli/ingest/flags.js'
import { gatherFiles } from '../cli/ingest/gather.js'
import { ingestFiles } from '../cli/ingest/session.js'
import { readLocalPath } from '../cli/local-path.js'
import { getProtectedFiles } from '../cli/own-files.js'
import { parseSize } from '../cli/units.js'

export default class Ingest extends BaseCommand {
  static override summary = 'upload files and folders into a space; existing files are not sent again'
  static override examples = [
    '<%= config.bin %> ingest ./docs --space example-space --wait',
    '<%= config.bin %> ingest note.md --as ops/note.md --space example-space',
    '<%= config.bin %> ingest - --name note.md --type text/markdown --space example-space < note.md',
    'git ls-files -z "*.md" | <%= config.bin %> ingest -0 - --space example-space',
  ]
  static override strict = false
  static override args = { path: Args.string({ required: true, description: 'files and folders; - reads stdin' }) }
  static override flags = {
    ...spaceFlag,
    create: Flags.boolean({ description: 'create the space if it does not exist' }),
    source: Flags.string({ helpValue: 'id', description: 'source of the documents' }),
    name: Flags.string({ helpValue: 'name', description: 'name of the document from stdin' }),
    as: Flags.string({ helpValue: 'path', description: 'name of the file or folder in the space' }),
    type: Flags.string({ helpValue: 'mime', description: 'media type of the file' }),
    ...walkFlags,
    'max-size': Flags.string({ helpValue: '20M', description: 'skip larger files' }),
    concurrency: Flags.integer({ min: 1, max: 8, default: 4, description: 'concurrent uploads' }),
    null: Flags.boolean({ description: 'paths from stdin, NUL-separated; also -0' }),
    'files-from-stdin': Flags.boolean({ description: 'paths from stdin, one per line' }),
    'dry-run': Flags.boolean({ description: 'show what would be sent, without sending' }),
    ...waitFlag('wait until every document is published or failed'),
    'fail-fast': Flags.boolean({ description: 'stop at the first file that fails' }),
  }

  async run(): Promise<void> {
    // oclif's one-letter flags must be letters.
    const words = this.argv.map((word) => (word === '-0' ? '--null' : word))
    const { argv, flags } = await this.parse(Ingest, words)
    const paths = argv.map((path) => readLocalPath(String(path)))
    if (flags.name !== undefined && !paths.includes('-')) throw usageError('--name applies to stdin: give `-`')
    const gathered = await gatherFiles(paths, {
      listOnStdin: flags.null || flags['files-from-stdin'],
      nul: flags.null,
      name: flags.name ?? (paths.includes('-') ? flags.as : undefined),
      glob: flags.glob ?? [],
      ignore: [...this.settings.ignore, ...(flags.ignore ?? [])],
      ignoreFiles: !flags['no-ignore'],
      hidden: flags.hidden,
      protectedFiles: getProtectedFiles(this.dirs, this.common.context.tokenFile),
    })
    try {
      const client = await this.client()
      const space = await this.resolveTarget(paths, { create: flags.create })
      await ingestFiles(gathered, {
        client,
        reconnect: (options) => this.reconnect(options),
        out: this.out,
        spaceId: space.id,
        stateDir: this.dirs.state,
        service: this.settings.service.value,
        sourceId: flags.source,
        mimeType: flags.type,
        maxSize: flags['max-size'] === undefined ? undefined : parseSize(flags['max-size'], '--max-size'),
        concurrency: flags.concurrency,
        wait: flags.wait,
        failFast: flags['fail-fast'],
        dryRun: flags['dry-run'],
        filesStay: gathered.roots.length > 0,
        deadline: this.deadline.signal,
        report: true,
        as: gathered.roots.length === 0 ? undefined : flags.as,
      })
    } finally {
      gathered.cleanUp()
    }
  }

  /** Resolves the target space. If none is given: the only existing one, or a new one with the name of the folder. */
  private async resolveTarget(paths: string[], { create }: { create: boolean }): Promise<{ id: string }> {
    const spaceName = this.settings.space?.value
    const client = await this.client()
    if (spaceName === undefined || create) {
      const { ensureSpace, toSpaceName } = await import('../cli/ensure-space.js')
      const [path = '-'] = paths
      if (create) return await ensureSpace(client, spaceName ?? toSpaceName(path))
      const { items } = await client.request('GET /knowledge-spaces', { query: { limit: 1 } })
      const space = items.length === 0 ? await ensureSpace(client, toSpaceName(path)) : await this.space()
      if (space.space !== undefined) this.out.note(`into space ${space.space.slug}`)
      return space
    }
    return await this.space().catch((error: unknown) => {
      if (!(error instanceof CliError) || error.code !== 'not-found') throw error
      const hint = ['`--create` creates it', error.hint].filter((text) => text !== undefined).join('; ')
      throw new CliError(error.message, { code: error.code, exit: error.exit, hint })
    })
  }
}
