import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { resolveId } from '../../cli/resolve.js'
import { formatEvidenceReference, SNAPSHOT_COLUMNS, SNAPSHOT_FIELDS } from '../../cli/snapshots.js'
import { formatBytes } from '../../cli/units.js'

export default class SnapshotsShow extends BaseCommand {
  static override summary = 'show a snapshot with its files and recorded queries'
  static override examples = ["<%= config.bin %> snapshots show '#a1b2c3d4'"]
  static override args = { id: Args.string({ required: true, description: 'id of the snapshot' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(SnapshotsShow)
    const snapshotId = resolveId('snapshot', args.id, this.dirs.cache)
    const client = await this.client()
    const snapshot = await client.request('GET /agent-workspace-snapshots/{snapshotId}', { path: { snapshotId } })
    this.out.record(snapshot, { columns: SNAPSHOT_COLUMNS, fields: [...SNAPSHOT_FIELDS, 'files', 'queries'] })
    if (this.out.format !== 'table') return
    this.out.line()
    for (const file of snapshot.files) this.out.line(`${file.path}  ${formatBytes(file.sizeBytes)}`)
    for (const query of snapshot.queries) {
      this.out.line()
      this.out.line(`${query.query}  (${query.mode}, ${query.evidenceState})`)
      for (const item of query.evidence)
        this.out.line(`  ${formatEvidenceReference(item, this.out.unicode ? '›' : '>')}`)
    }
  }
}
