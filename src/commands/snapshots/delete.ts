import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { resolveId } from '../../cli/resolve.js'

export default class SnapshotsDelete extends BaseCommand {
  static override summary = 'delete a snapshot'
  static override examples = ["<%= config.bin %> snapshots delete '#a1b2c3d4'"]
  static override args = { id: Args.string({ required: true, description: 'id of the snapshot' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(SnapshotsDelete)
    const snapshotId = resolveId('snapshot', args.id, this.dirs.cache)
    const client = await this.client()
    await client.request('DELETE /agent-workspace-snapshots/{snapshotId}', { path: { snapshotId } })
    if (this.out.isJson) this.out.json({ id: snapshotId, deleted: true })
    else this.out.note('Deleted.')
  }
}
