import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { FAILED_QUERY_STATUSES } from '../../contract/values.js'

export default class FailedClusters extends BaseCommand {
  static override summary = 'group failed queries that ask with the same terms, most frequent first'
  static override examples = ['<%= config.bin %> failed clusters --space example-space --limit 20']
  static override flags = {
    ...spaceFlag,
    limit: Flags.integer({ min: 1, max: 1000, helpValue: 'n', description: 'most clusters to list (default 200)' }),
    status: Flags.option({ options: FAILED_QUERY_STATUSES, description: 'where the queries stand' })(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(FailedClusters)
    const { id } = await this.space()
    const client = await this.client()
    const { clusters } = await client.request('GET /knowledge-spaces/{id}/failed-queries/clusters', {
      path: { id },
      query: {
        ...(flags.limit === undefined ? {} : { limit: flags.limit }),
        ...(flags.status === undefined ? {} : { status: flags.status }),
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
      empty: 'No failed queries here.',
    })
  }
}
