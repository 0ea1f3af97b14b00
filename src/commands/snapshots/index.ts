import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { SNAPSHOT_COLUMNS, SNAPSHOT_FIELDS } from '../../cli/snapshots.js'
import { paginate } from '../../client/pages.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class Snapshots extends BaseCommand {
  static override isPaged = true
  static override summary = 'list your snapshots of workspaces, newest first'
  static override aliases = ['snapshots:list', 'snapshots:ls']
  static override examples = ['<%= config.bin %> snapshots --space example-space']
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    workspace: Flags.string({ helpValue: 'name', description: 'only snapshots of this workspace' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Snapshots)
    const { id } = await this.space()
    const client = await this.client()
    const filter = { knowledgeSpaceId: id, ...omitUndefined({ workspace: flags.workspace }) }
    const snapshots = paginate(
      (page) => client.request('GET /agent-workspace-snapshots', { query: { ...filter, ...page } }),
      { ...this.getListRange(flags), pageSize: 200 },
    )
    await this.list(snapshots, {
      columns: SNAPSHOT_COLUMNS,
      fields: SNAPSHOT_FIELDS,
      empty: 'No snapshots yet.',
      hint: '`ks snapshots create WORKSPACE` creates one',
    })
  }
}
