import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags } from '../../cli/common-flags.js'
import { resolveId } from '../../cli/resolve.js'
import { paginate } from '../../client/pages.js'

export default class ResearchPartials extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the evidence that a research task has found so far, one bundle for each retrieval'
  static override examples = ["<%= config.bin %> research partials '#a1b2c3d4' --format jsonl"]
  static override args = { id: Args.string({ required: true, description: 'id of the task' }) }
  static override flags = { ...listFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ResearchPartials)
    const id = resolveId('research task', args.id, this.dirs.cache)
    const client = await this.client()
    const partials = paginate((query) => client.request('GET /research-tasks/{id}/partials', { path: { id }, query }), {
      ...this.getListRange(flags),
      pageSize: 100,
    })
    await this.list(partials, {
      columns: [
        { field: 'sequence', title: 'NO' },
        { field: 'evidenceBundle.state', title: 'STATE', kind: 'state' },
        { field: 'evidenceBundle.items.length', title: 'PASSAGES', kind: 'count' },
        { field: 'evidenceBundle.query', title: 'QUERY' },
      ],
      fields: ['tenantId', 'knowledgeSpaceId', 'researchTaskJobId', 'evidenceBundle'],
      empty: 'No evidence yet.',
    })
  }
}
