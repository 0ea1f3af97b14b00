import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { connect } from '../../cli/connect.js'
import { readLocalPath } from '../../cli/local-path.js'
import { parseSpan } from '../../cli/units.js'
import { checkLocal, WATCH_COLUMNS } from '../../cli/watch/find-watch.js'
import { parsePollMs, toWatchRules, watchFlags } from '../../cli/watch/flags.js'
import { checkWatchFolder } from '../../cli/watch/rules.js'

export default class WatchFolders extends BaseCommand {
  static override summary = 'synchronize a space with folders until Ctrl-C, or list the folders that the daemon watches'
  static override examples = [
    '<%= config.bin %> watch ~/notes --space example-space',
    '<%= config.bin %> watch',
    '<%= config.bin %> watch ./docs ./specs --space example-space --format jsonl',
    '<%= config.bin %> watch ./docs --space example-space --once',
    '<%= config.bin %> watch ./docs --space example-space --poll 2s',
  ]
  static override strict = false
  static override args = { folder: Args.string({ description: 'folders to watch' }) }
  static override flags = {
    ...spaceFlag,
    ...watchFlags,
    every: Flags.string({ helpValue: '5m', default: '5m', description: 'interval of complete scans' }),
    once: Flags.boolean({ description: 'update the space once and exit' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(WatchFolders)
    if (argv.length === 0) return await this.listWatches()
    const folders = [...new Set(argv.map((folder) => resolve(readLocalPath(String(folder)))))]
    for (const folder of folders) checkWatchFolder(folder, this.dirs)
    const nested = folders.find((folder) => folders.some((other) => folder.startsWith(`${other}/`)))
    if (nested !== undefined) throw usageError(`${nested} is inside another watched folder`)
    if (flags.as !== undefined && folders.length > 1) throw usageError('--as names one folder: give one')
    const scanIntervalMs = parseSpan(flags.every, '--every')
    const pollMs = parsePollMs(flags.poll)
    const { id, space } = await this.space()
    const location = this.settings.service.value
    const { watchFolders } = await import('../../cli/watch/session.js')
    await watchFolders({
      folders,
      service: location,
      scanIntervalMs,
      pollMs,
      spaceId: id,
      spaceName: space?.slug ?? id,
      dirs: this.dirs,
      out: this.out,
      rules: toWatchRules(flags, this.settings.ignore),
      as: flags.as,
      onDelete: flags['on-delete'],
      once: flags.once,
      acceptMissing: flags['accept-missing'],
      connect: () => connect(location, { autostart: this.settings.autostart, signal: this.deadline.signal }),
      deadline: this.deadline.signal,
    })
  }

  private async listWatches(): Promise<void> {
    checkLocal(this.settings.service.value)
    const client = await this.client()
    const { items } = await client.request('GET /daemon/watches', {})
    await this.out.list(items, {
      columns: WATCH_COLUMNS,
      empty: 'No folders are watched.',
      hint: '`ks watch add FOLDER --space SLUG`',
    })
    for (const { folder, detail } of items) if (detail !== undefined) this.out.note(`${folder}: ${detail}`)
  }
}
