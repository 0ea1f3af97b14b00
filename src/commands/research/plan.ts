import * as Args from '@oclif/core/args'
import { readArgumentText } from '../../cli/argument-words.js'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { researchQueryFlags, toTaskOptions } from '../../cli/research/flags.js'
import { formatPlan, STEP_COLUMNS } from '../../cli/research/view.js'

export default class ResearchPlan extends BaseCommand {
  static override summary = 'estimate the cost and time of a research task without starting it'
  static override examples = [
    '<%= config.bin %> research plan "compare the two gauges and their accuracy" --space example-space --budget 0.10',
  ]
  static override strict = false
  static override args = { text: Args.string({ required: true, description: 'question; - reads stdin' }) }
  static override flags = { ...spaceFlag, ...researchQueryFlags }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(ResearchPlan)
    const query = await readArgumentText(raw, 'the question')
    const { id: knowledgeSpaceId } = await this.space()
    const client = await this.client()
    const options = toTaskOptions({ ...flags, mode: this.settings.mode?.value })
    const plan = await client.request('POST /research-tasks/plan', { body: { knowledgeSpaceId, query, ...options } })
    if (this.out.isJson) return this.out.json(plan)
    if (this.out.isTerminal) for (const line of formatPlan(plan)) this.out.line(line)
    await this.out.list(plan.steps, { columns: STEP_COLUMNS, empty: 'No steps.' })
  }
}
