import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { formatResumeNote, GRAPH_READING_FIELDS, getLastGraphReading } from '../../cli/graph-reading.js'

export default class GraphStatus extends BaseCommand {
  static override summary = 'show the progress of the last graph extraction of a complete space'
  static override examples = ['<%= config.bin %> graph status --space example-space']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(GraphStatus)
    const { id } = await this.space()
    const last = await getLastGraphReading(await this.client(), id)
    if (last === undefined) {
      if (this.out.format === 'json') this.out.json({})
      else this.out.note('The complete space was never read; `ks graph extract --all` starts it.')
      return
    }
    this.out.record(last, { fields: GRAPH_READING_FIELDS })
    const note = formatResumeNote(last)
    if (note !== undefined) this.out.note(note)
  }
}
