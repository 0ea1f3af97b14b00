import * as Args from '@oclif/core/args'
import { ResearchCommand } from '../../cli/research/research-command.js'
import { resolveId } from '../../cli/resolve.js'

export default class ResearchReport extends ResearchCommand {
  static override isPaged = true
  static override summary = 'print the report of a completed research task'
  static override examples = ["<%= config.bin %> research report '#a1b2c3d4' > report.md"]
  static override args = { id: Args.string({ required: true, description: 'id of the task' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(ResearchReport)
    await this.printReport(resolveId('research task', args.id, this.dirs.cache))
  }
}
