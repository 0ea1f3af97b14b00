import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
import { spaceFlag, waitFlag } from '../../cli/common-flags.js'
import {
  formatGraphReading,
  formatResumeNote,
  getLastGraphReading,
  getRunningGraphReading,
} from '../../cli/graph-reading.js'
import type { GraphReading } from '../../contract/gateway/graph-readings.js'
import { LIMITS } from '../../contract/limits.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const { default: DEFAULT_TOKENS, max: MAX_TOKENS } = LIMITS.graphReadingTokens

export default class GraphExtract extends BaseCommand {
  static override summary = 'extract entities and relations from passages of a space'
  static override description =
    'Without `--all`, reads the next passages at once. With it, reads the complete space in the background, also with the reasoning model of its profile, if there is one: each text once, until the token budget is spent. Run it again to continue. `--status` shows the progress, `--cancel` cancels it; results so far stay.'
  static override examples = [
    '<%= config.bin %> graph extract --limit 100 --space example-space',
    '<%= config.bin %> graph extract --all --budget 200000 --wait --space example-space',
    '<%= config.bin %> graph extract --status --space example-space',
    '<%= config.bin %> graph extract --cancel --space example-space',
  ]
  static override flags = {
    ...spaceFlag,
    limit: Flags.integer({
      char: 'n',
      helpValue: 'n',
      description: `number of passages to read, at most ${LIMITS.viewItems.max}`,
      exclusive: ['all'],
    }),
    all: Flags.boolean({ description: 'read the complete space in the background' }),
    budget: Flags.integer({
      helpValue: 'tokens',
      dependsOn: ['all'],
      description: `maximum tokens for the model, up to ${MAX_TOKENS} (default: ${DEFAULT_TOKENS})`,
    }),
    ...waitFlag('wait for the end; exits with 1 if it fails', { dependsOn: ['all'] }),
    status: Flags.boolean({
      description: 'show the last extraction of the complete space',
      exclusive: ['all', 'limit'],
    }),
    cancel: Flags.boolean({
      description: 'cancel the extraction of the complete space',
      exclusive: ['all', 'limit', 'status'],
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(GraphExtract)
    const { id } = await this.space()
    if (flags.status) return this.showStatus(id)
    if (flags.cancel) return this.cancel(id)
    if (flags.all) return this.extractAll(id, flags)
    const client = await this.client()
    const done = await client.request('POST /knowledge-spaces/{id}/semantic-views/entities/extract', {
      path: { id },
      body: omitUndefined({ limit: flags.limit }),
    })
    this.out.record(done)
  }

  private async extractAll(
    id: string,
    { budget, wait }: { budget?: number | undefined; wait: boolean },
  ): Promise<void> {
    const client = await this.client()
    const started = await client.request('POST /knowledge-spaces/{id}/graph/readings', {
      path: { id },
      body: budget === undefined ? {} : { budgetTokens: budget },
    })
    const last = wait ? await this.follow(id, started) : started
    this.out.record(last)
    const note = formatResumeNote(last)
    if (note !== undefined) this.out.note(note)
    if (last.state === 'failed' || last.state === 'canceled')
      throw new CliError(`the graph of the space was not completed: ${last.error ?? 'the extraction was canceled'}`, {
        code: 'reading-failed',
      })
  }

  private async follow(id: string, started: GraphReading): Promise<GraphReading> {
    const { followWork } = await import('../../cli/follow-work.js')
    const client = await this.client()
    const path = { id, readingId: started.id }
    const load = () => client.request('GET /knowledge-spaces/{id}/graph/readings/{readingId}', { path })
    return followWork(this.out, started, { formatLine: formatGraphReading, load }, this.deadline.signal)
  }

  private async showStatus(id: string): Promise<void> {
    const last = await getLastGraphReading(await this.client(), id)
    if (last === undefined) {
      if (this.out.format === 'json') this.out.json({})
      else this.out.note('The complete space was never read; `ks graph extract --all` starts it.')
      return
    }
    this.out.record(last)
    const note = formatResumeNote(last)
    if (note !== undefined) this.out.note(note)
  }

  private async cancel(id: string): Promise<void> {
    const client = await this.client()
    const openExtraction = await getRunningGraphReading(client, id)
    // The requested state is reached, so scripts need no check beforehand.
    if (openExtraction === undefined) return this.out.note('No graph extraction of the space is running.')
    const ended = await client.request('DELETE /knowledge-spaces/{id}/graph/readings/{readingId}', {
      path: { id, readingId: openExtraction.id },
    })
    this.out.record(ended)
  }
}
