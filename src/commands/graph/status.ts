import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { lastReading, READING_FIELDS, resumeNote } from '../../cli/graph-reading.js'

export default class GraphStatus extends BaseCommand {
  static override summary = 'show how far the last reading of a whole space for its graph is'
  static override examples = ['<%= config.bin %> graph status --space example-space']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(GraphStatus)
    const { id } = await this.space()
    const last = await lastReading(await this.client(), id)
    if (last === undefined) {
      if (this.out.format === 'json') this.out.json({})
      else this.out.note('The space was never read as a whole: `ks graph extract --all` begins.')
      return
    }
    this.out.record(last, { fields: READING_FIELDS })
    const note = resumeNote(last)
    if (note !== undefined) this.out.note(note)
  }
}
