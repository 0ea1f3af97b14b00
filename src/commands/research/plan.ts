import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { askFlags, taskOptions } from '../../cli/research/flags.js'
import { planLines, STEP_COLUMNS } from '../../cli/research/view.js'
import { textOfWords } from '../../cli/words.js'

export default class ResearchPlan extends BaseCommand {
  static override summary = 'estimate the cost and time of a research task without starting it'
  static override examples = [
    '<%= config.bin %> research plan "compare the two gauges and their accuracy" --space example-space --budget 0.10',
  ]
  static override strict = false
  static override args = { text: Args.string({ required: true, description: 'question; - reads stdin' }) }
  static override flags = { ...spaceFlag, ...askFlags }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(ResearchPlan)
    const query = await textOfWords(raw, 'the question')
    const { id: knowledgeSpaceId } = await this.space()
    const client = await this.client()
    const asked = taskOptions({ ...flags, mode: this.settings.mode?.value })
    const plan = await client.request('POST /research-tasks/plan', { body: { knowledgeSpaceId, query, ...asked } })
    if (this.out.isJson) return this.out.json(plan)
    if (this.out.isTerminal) for (const line of planLines(plan)) this.out.line(line)
    await this.out.list(plan.steps, { columns: STEP_COLUMNS, empty: 'No steps.' })
  }
}
