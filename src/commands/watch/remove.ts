import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { localPath } from '../../cli/local-path.js'
import { checkLocal, findWatch } from '../../cli/watch/find-watch.js'

export default class WatchRemove extends BaseCommand {
  static override summary = 'stop watching a folder with the local daemon; its documents stay'
  static override aliases = ['watch:stop']
  static override examples = [
    '<%= config.bin %> watch remove ~/notes',
    "<%= config.bin %> watch remove '#a1b2c3d4'",
    '<%= config.bin %> watch stop ~/notes --space example-space',
  ]
  static override args = {
    folder: Args.string({ ...localPath, required: true, description: 'folder, or id of the watch' }),
  }
  static override flags = spaceFlag

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WatchRemove)
    checkLocal(this.settings.service.value)
    const client = await this.client()
    const spaceId = flags.space === undefined ? undefined : (await this.resolveSpace(flags.space)).id
    const { items } = await client.request('GET /daemon/watches', {})
    const watch = findWatch(items, { text: args.folder, folder: resolve(args.folder), spaceId })
    await client.request('DELETE /daemon/watches/{watchId}', { path: { watchId: watch.id } })
    if (this.out.isJson) this.out.json(watch)
    else this.out.note(`no longer watched: ${watch.folder}; its documents stay`)
  }
}
