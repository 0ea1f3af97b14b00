import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { pollMsOf, rulesOf, watchFlags } from '../../cli/watch/flags.js'
import { requireLocal, watchColumns } from '../../cli/watch/kept.js'
import { checkFolder } from '../../cli/watch/rules.js'
import { defined } from '../../lib/defined.js'

export default class WatchAdd extends BaseCommand {
  static override summary = 'let the local daemon watch a folder, now and after each start'
  static override examples = ['<%= config.bin %> watch add ~/notes --space example-space']
  static override args = { folder: Args.string({ required: true, description: 'folder to watch' }) }
  static override flags = { ...spaceFlag, ...watchFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WatchAdd)
    requireLocal(this.settings.place.value)
    const folder = resolve(args.folder)
    checkFolder(folder, this.dirs)
    const pollMs = pollMsOf(flags.poll)
    const { id } = await this.space()
    const { glob, ignore, hidden, ignoreFiles } = rulesOf(flags, this.settings.ignore)
    const client = await this.client()
    const watch = await client.request('POST /daemon/watches', {
      body: {
        knowledgeSpaceId: id,
        folder,
        hidden,
        ignoreFiles,
        glob: [...glob],
        ignore: [...ignore],
        ...defined({ pollMs }),
        onDelete: flags['on-delete'],
        acceptMissing: flags['accept-missing'],
      },
    })
    this.out.record(watch, { columns: watchColumns })
    this.out.note('hint: `ks watch list` shows its progress')
  }
}
