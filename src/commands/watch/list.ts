import { BaseCommand } from '../../cli/base-command.js'
import { checkLocal, WATCH_COLUMNS } from '../../cli/watch/find-watch.js'

export default class WatchList extends BaseCommand {
  static override summary = 'list the folders that the local daemon watches'
  static override aliases = ['watch:ls']
  static override examples = ['<%= config.bin %> watch list', '<%= config.bin %> watch list --json']

  async run(): Promise<void> {
    await this.parse(WatchList)
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
