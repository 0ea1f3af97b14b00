import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { toServiceKey } from '../../cli/contexts.js'
import { ensureSpace, toSpaceName } from '../../cli/ensure-space.js'
import { nameFolder } from '../../cli/ingest/name-files.js'
import { RootNames } from '../../cli/ingest/root-names.js'
import { localPath } from '../../cli/local-path.js'
import { checkLocal, WATCH_COLUMNS } from '../../cli/watch/find-watch.js'
import { parsePollMs, toWatchRules, watchFlags } from '../../cli/watch/flags.js'
import { checkWatchFolder, toWalkOptions } from '../../cli/watch/rules.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class WatchAdd extends BaseCommand {
  static override summary = 'let the local daemon watch a folder, now and after each start'
  static override examples = [
    '<%= config.bin %> watch add ~/notes --space example-space',
    '<%= config.bin %> watch add ./docs --create',
  ]
  static override args = { folder: Args.string({ ...localPath, required: true, description: 'folder to watch' }) }
  static override flags = {
    ...spaceFlag,
    create: Flags.boolean({ description: 'create the space if it does not exist; by default named after the folder' }),
    ...watchFlags,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WatchAdd)
    checkLocal(this.settings.service.value)
    const folder = resolve(args.folder)
    checkWatchFolder(folder, this.dirs)
    const pollMs = parsePollMs(flags.poll)
    const { id } = flags.create ? await this.createSpace(folder) : await this.space()
    const rules = toWatchRules(flags, this.settings.ignore)
    const { glob, ignore, hidden, ignoreFiles } = rules
    const client = await this.client()
    await nameFolder(folder, toWalkOptions(folder, rules, this.dirs), {
      client,
      spaceId: id,
      as: flags.as,
      names: new RootNames(this.dirs.state, toServiceKey(this.settings.service.value), id),
      isRemembered: true,
      onNew: (sentence) => this.out.note(`ks: ${sentence}`),
    })
    const watch = await client.request('POST /daemon/watches', {
      body: {
        knowledgeSpaceId: id,
        folder,
        hidden,
        ignoreFiles,
        glob: [...glob],
        ignore: [...ignore],
        ...omitUndefined({ pollMs }),
        onDelete: flags['on-delete'],
        acceptMissing: flags['accept-missing'],
      },
    })
    this.out.record(watch, { columns: WATCH_COLUMNS })
    this.out.note('hint: `ks watch` shows its progress')
  }

  private async createSpace(folder: string): Promise<{ id: string }> {
    const space = await ensureSpace(await this.client(), this.settings.space?.value ?? toSpaceName(folder))
    if (space.created) this.out.note(`created space ${space.slug}`)
    return space
  }
}
