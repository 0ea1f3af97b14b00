import { BaseCommand } from '../../cli/base-command.js'
import { LOCAL_CONTEXT } from '../../cli/user-config.js'

export default class Context extends BaseCommand {
  static override summary = 'list the configured services'
  static override aliases = ['context:list', 'context:ls']
  static override examples = ['<%= config.bin %> context']

  async run(): Promise<void> {
    await this.parse(Context)
    const { user } = this.settings
    const current = user.currentContext ?? LOCAL_CONTEXT
    const local = { name: LOCAL_CONTEXT, url: `local daemon of ${this.dirs.data}`, space: undefined }
    const configured = Object.entries(user.contexts).map(([name, entry]) => ({
      name,
      url: entry.url,
      space: entry.space,
    }))
    const contexts = configured.some((context) => context.name === LOCAL_CONTEXT) ? configured : [local, ...configured]
    await this.out.list(
      contexts.map((context) => ({ ...context, current: context.name === current })),
      {
        columns: [{ field: 'name' }, { field: 'current' }, { field: 'url', kind: 'name' }, { field: 'space' }],
        empty: 'No contexts.',
      },
    )
  }
}
