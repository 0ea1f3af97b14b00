import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { GRAPH_READING_FIELDS, getRunningGraphReading } from '../../cli/graph-reading.js'

export default class GraphCancel extends BaseCommand {
  static override summary = 'cancel the graph extraction of a complete space; results so far stay'
  static override examples = ['<%= config.bin %> graph cancel --space example-space']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(GraphCancel)
    const { id } = await this.space()
    const client = await this.client()
    const openExtraction = await getRunningGraphReading(client, id)
    // The requested state is reached, so scripts need no check beforehand.
    if (openExtraction === undefined) return this.out.note('No graph extraction of the space is running.')
    const ended = await client.request('DELETE /knowledge-spaces/{id}/graph/readings/{readingId}', {
      path: { id, readingId: openExtraction.id },
    })
    this.out.record(ended, { fields: GRAPH_READING_FIELDS })
  }
}
