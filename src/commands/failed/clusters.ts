import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { FAILED_QUERY_STATUSES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const DEFAULT_LIMIT = 200
/** the service returns at most one page with this many clusters */
const MAX_CLUSTERS = 1000

export default class FailedClusters extends BaseCommand {
  static override summary = 'list clusters of failed queries with the same meaning, most frequent first'
  static override examples = ['<%= config.bin %> failed clusters --space example-space --limit 20']
  static override flags = {
    ...spaceFlag,
    limit: Flags.integer({
      min: 1,
      max: MAX_CLUSTERS,
      helpValue: 'n',
      description: `maximum clusters (default ${DEFAULT_LIMIT} at a terminal, else ${MAX_CLUSTERS})`,
    }),
    status: Flags.option({ options: FAILED_QUERY_STATUSES, description: 'status of the queries' })(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(FailedClusters)
    const limit = flags.limit ?? (this.out.isTerminal ? DEFAULT_LIMIT : MAX_CLUSTERS)
    const { id } = await this.space()
    const client = await this.client()
    const { clusters } = await client.request('GET /knowledge-spaces/{id}/failed-queries/clusters', {
      path: { id },
      query: {
        limit,
        ...omitUndefined({ status: flags.status }),
      },
    })
    await this.out.list(clusters, {
      columns: [
        { field: 'count', title: 'ASKED', kind: 'count' },
        { field: 'failedQueryIds.length', title: 'QUERIES', kind: 'count' },
        { field: 'representative.query', title: 'SUCH AS' },
        { field: 'representative.id', title: 'ID', kind: 'id' },
      ],
      fields: ['clusterKey', 'failedQueryIds', 'representative'],
      empty: 'No failed queries.',
    })
    if (clusters.length === limit)
      this.out.note(`There may be more: ${limit < MAX_CLUSTERS ? 'give a greater `--limit`' : 'this is the maximum'}.`)
  }
}
