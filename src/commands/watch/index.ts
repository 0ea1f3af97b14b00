import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { connect } from '../../cli/connect.js'
import { parseSpan } from '../../cli/units.js'
import { pollMsOf, rulesOf, watchFlags } from '../../cli/watch/flags.js'
import { checkFolder } from '../../cli/watch/rules.js'

export default class WatchFolders extends BaseCommand {
  static override summary = 'synchronize a space with folders until Ctrl-C'
  static override examples = [
    '<%= config.bin %> watch ~/notes --space example-space',
    '<%= config.bin %> watch ./docs ./specs --space example-space --format jsonl',
    '<%= config.bin %> watch ./docs --space example-space --once',
    '<%= config.bin %> watch ./docs --space example-space --poll 2s',
  ]
  static override strict = false
  static override args = { folder: Args.string({ required: true, description: 'folders to watch' }) }
  static override flags = {
    ...spaceFlag,
    ...watchFlags,
    every: Flags.string({ helpValue: '5m', default: '5m', description: 'interval of complete scans' }),
    once: Flags.boolean({ description: 'update the space once and exit' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(WatchFolders)
    const folders = [...new Set(argv.map((folder) => resolve(String(folder))))]
    for (const folder of folders) checkFolder(folder, this.dirs)
    const inside = folders.find((folder) => folders.some((other) => folder.startsWith(`${other}/`)))
    if (inside !== undefined) throw usageError(`${inside} is inside another watched folder`)
    const everyMs = parseSpan(flags.every, '--every')
    const pollMs = pollMsOf(flags.poll)
    const { id, space } = await this.space()
    const place = this.settings.place.value
    const { watchFolders } = await import('../../cli/watch/session.js')
    await watchFolders({
      folders,
      place,
      everyMs,
      pollMs,
      spaceId: id,
      spaceName: space?.slug ?? id,
      dirs: this.dirs,
      out: this.out,
      rules: rulesOf(flags, this.settings.ignore),
      onDelete: flags['on-delete'],
      once: flags.once,
      acceptMissing: flags['accept-missing'],
      connect: () => connect(place, { autostart: this.settings.autostart, signal: this.deadline.signal }),
      deadline: this.deadline.signal,
    })
  }
}
