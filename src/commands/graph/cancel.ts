import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
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
    if (open === undefined) throw new CliError('no reading of the space is under way', { code: 'not-found' })
    const ended = await client.request('DELETE /knowledge-spaces/{id}/graph/readings/{readingId}', {
      path: { id, readingId: open.id },
    })
    this.out.record(ended, { fields: READING_FIELDS })
  }
}
