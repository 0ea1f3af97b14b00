import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { resolveId } from '../../cli/resolve.js'
import type { CatResult } from '../../contract/gateway/fs.js'

export default class SnapshotsCat extends BaseCommand {
  static override isPaged = true
  static override summary = 'print a file of a snapshot'
  static override examples = ["<%= config.bin %> snapshots cat '#a1b2c3d4' notes.md"]
  static override args = {
    id: Args.string({ required: true, description: 'id of the snapshot' }),
    path: Args.string({ required: true, description: 'path within the workspace' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(SnapshotsCat)
    const snapshotId = resolveId('snapshot', args.id, this.dirs.cache)
    const client = await this.client()
    let content = ''
    let first: CatResult | undefined
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part: CatResult = await client.request('GET /agent-workspace-snapshots/{snapshotId}/file', {
        path: { snapshotId },
        query: { path: args.path, offset },
      })
      first ??= part
      content += part.content
      offset = part.nextOffset
    }
    if (this.out.isJson && first !== undefined) {
      const { nextOffset: _, ...rest } = first
      this.out.json({ ...rest, content, truncated: false })
    } else this.out.text(content)
    if (!this.out.isJson && this.out.isTerminal && !content.endsWith('\n')) this.out.raw('\n')
  }
}
