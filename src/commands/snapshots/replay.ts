import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { resolveId } from '../../cli/resolve.js'
import { formatReplay } from '../../cli/snapshots.js'
import type { SnapshotReplay } from '../../contract/gateway/snapshots.js'
import { formatCount, pluralize } from '../../lib/text/pluralize.js'

export default class SnapshotsReplay extends BaseCommand {
  static override summary = 'rerun the queries of a snapshot, and compare their evidence'
  static override examples = [
    "<%= config.bin %> snapshots replay '#a1b2c3d4'",
    "<%= config.bin %> snapshots replay '#a1b2c3d4' --json",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the snapshot' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(SnapshotsReplay)
    const snapshotId = resolveId('snapshot', args.id, this.dirs.cache)
    const arrow = this.out.unicode ? '›' : '>'
    const parts: SnapshotReplay[] = []
    for await (const part of this.readParts(snapshotId)) {
      parts.push(part)
      for (const query of part.queries) {
        if (this.out.format === 'jsonl') this.out.json(query)
        else if (!this.out.isJson) for (const line of formatReplay(query, arrow)) this.out.line(line)
      }
    }
    const [first] = parts
    if (first === undefined) return
    const { nextFrom: _, ...rest } = first
    const sum = (key: keyof SnapshotReplay['summary']) => parts.reduce((total, part) => total + part.summary[key], 0)
    const summary = {
      queries: sum('queries'),
      failed: sum('failed'),
      added: sum('added'),
      lost: sum('lost'),
      kept: sum('kept'),
    }
    if (this.out.format === 'json') this.out.json({ ...rest, summary, queries: parts.flatMap((part) => part.queries) })
    const { queries, failed, added, lost, kept } = summary
    this.out.note(
      [
        pluralize(queries, 'query', 'queries'),
        `${formatCount(added)} added`,
        `${formatCount(lost)} lost`,
        `${formatCount(kept)} kept`,
        ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
      ].join(' · '),
    )
  }

  /** Reads a long replay in parts, each on the head at its own time. */
  private async *readParts(snapshotId: string): AsyncGenerator<SnapshotReplay> {
    const client = await this.client()
    for (let start: number | undefined = 0; start !== undefined; ) {
      const part: SnapshotReplay = await client.request('POST /agent-workspace-snapshots/{snapshotId}/replay', {
        path: { snapshotId },
        query: { from: start },
      })
      yield part
      start = part.nextFrom
    }
  }
}
