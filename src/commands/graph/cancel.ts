import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { openReading, READING_FIELDS } from '../../cli/graph-reading.js'

export default class GraphCancel extends BaseCommand {
  static override summary = 'cancel the reading of a whole space for its graph; what was read stays'
  static override examples = ['<%= config.bin %> graph cancel --space example-space']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(GraphCancel)
    const { id } = await this.space()
    const client = await this.client()
    const open = await openReading(client, id)
    // the state that was asked for is there: a script need not look first
    if (open === undefined) return this.out.note('No reading of the space is under way.')
    const ended = await client.request('DELETE /knowledge-spaces/{id}/graph/readings/{readingId}', {
      path: { id, readingId: open.id },
    })
    this.out.record(ended, { fields: READING_FIELDS })
  }
}
