import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { getLastSession } from '../../cli/query/last-session.js'
import { SNAPSHOT_COLUMNS, SNAPSHOT_FIELDS } from '../../cli/snapshots.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SnapshotsCreate extends BaseCommand {
  static override summary = "create a snapshot of a workspace's files and of the queries of its session"
  static override examples = [
    '<%= config.bin %> snapshots create audit --name "before the move" --space example-space',
    '<%= config.bin %> snapshots create audit --session last --space example-space',
  ]
  static override args = { workspace: Args.string({ required: true, description: 'name of the workspace' }) }
  static override flags = {
    ...spaceFlag,
    name: Flags.string({ helpValue: 'text', description: 'name of the snapshot' }),
    session: Flags.string({
      helpValue: 'last|id',
      description: 'session to record queries of (default: the session that names the workspace, else your latest)',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SnapshotsCreate)
    const { id } = await this.space()
    const sessionId = flags.session === 'last' ? getLastSession(this.dirs.state, id) : flags.session
    const client = await this.client()
    const snapshot = await client.request('POST /agent-workspace-snapshots', {
      body: {
        knowledgeSpaceId: id,
        workspace: args.workspace,
        ...omitUndefined({ name: flags.name, sessionId }),
      },
    })
    this.out.record(snapshot, { columns: SNAPSHOT_COLUMNS, fields: SNAPSHOT_FIELDS })
  }
}
