import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { readArgumentText } from '../../cli/argument-words.js'
import { spaceFlag, waitFlag } from '../../cli/common-flags.js'
import { researchLimitFlags, researchQueryFlags, toResearchLimits, toTaskOptions } from '../../cli/research/flags.js'
import { ResearchCommand } from '../../cli/research/research-command.js'
import { formatPlan, STEP_COLUMNS, TASK_RECORD } from '../../cli/research/view.js'

export default class ResearchStart extends ResearchCommand {
  static override summary = 'start a research task in the background'
  static override examples = [
    '<%= config.bin %> research start "compare the two gauges and their accuracy" --space example-space --wait',
    '<%= config.bin %> research start "compare the two gauges and their accuracy" --space example-space --budget 0.10 --dry-run',
    '<%= config.bin %> research start - --space example-space --budget 0.25 --time-limit 5m < question.txt',
  ]
  static override strict = false
  static override args = { text: Args.string({ required: true, description: 'question; - reads stdin' }) }
  static override flags = {
    ...spaceFlag,
    ...researchQueryFlags,
    ...researchLimitFlags,
    'dry-run': Flags.boolean({ description: 'estimate cost and time without starting the task' }),
    ...waitFlag('show the progress, then the report'),
  }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(ResearchStart)
    const query = await readArgumentText(raw, 'the question')
    const { id: knowledgeSpaceId } = await this.space()
    const client = await this.client()
    const options = toTaskOptions({ ...flags, mode: this.settings.mode?.value })
    if (flags['dry-run']) return await this.printPlan({ knowledgeSpaceId, query, ...options })
    const body = { knowledgeSpaceId, query, ...options, ...toResearchLimits(flags) }
    const task = await client.request('POST /research-tasks', { body })
    if (!flags.wait) {
      this.out.record(task, { columns: TASK_RECORD })
      this.out.note(`hint: \`ks research show ${task.id} --wait\` shows its progress`)
      return
    }
    await this.follow(task.id, { onEvent: (event) => this.printProgress(event) })
    await this.printReport(task.id)
  }

  private async printPlan(
    body: { knowledgeSpaceId: string; query: string } & ReturnType<typeof toTaskOptions>,
  ): Promise<void> {
    const client = await this.client()
    const plan = await client.request('POST /research-tasks/plan', { body })
    if (this.out.isJson) return this.out.json(plan)
    if (this.out.isTerminal) for (const line of formatPlan(plan)) this.out.line(line)
    await this.out.list(plan.steps, { columns: STEP_COLUMNS, empty: 'No steps.' })
  }
}
