import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { FAILED_COLUMNS } from '../../cli/quality.js'
import { paginate } from '../../client/pages.js'
import { FAILED_QUERY_STATUSES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

type FailedQueryStatus = (typeof FAILED_QUERY_STATUSES)[number]

const DEFAULT_CLUSTERS = 200
/** The service returns at most one page with this many clusters. */
const MAX_CLUSTERS = 1000

export default class Failed extends BaseCommand {
  static override isPaged = true
  static override summary = 'list queries without a good answer, newest first, or their clusters'
  static override aliases = ['failed:list', 'failed:ls']
  static override examples = [
    '<%= config.bin %> failed --space example-space --status pending-triage',
    '<%= config.bin %> failed --space example-space --all --format jsonl --fields query,trigger',
    '<%= config.bin %> failed --clusters --space example-space --limit 20',
    '<%= config.bin %> failed --counts --space example-space',
  ]
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    status: Flags.option({ options: FAILED_QUERY_STATUSES, description: 'status of the queries' })(),
    clusters: Flags.boolean({
      description: `list clusters of queries with the same meaning, most frequent first, at most ${MAX_CLUSTERS}`,
    }),
    counts: Flags.boolean({ description: 'count the queries by status', exclusive: ['clusters', 'status'] }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Failed)
    const { id } = await this.space()
    if (flags.counts) return await this.printCounts(id)
    if (flags.clusters) return await this.listClusters(id, flags)
    const client = await this.client()
    const filter = flags.status === undefined ? {} : { status: flags.status }
    const failed = paginate(
      (page) =>
        client.request('GET /knowledge-spaces/{id}/failed-queries', { path: { id }, query: { ...filter, ...page } }),
      { ...this.getListRange(flags), pageSize: 200 },
    )
    await this.list(failed, { columns: FAILED_COLUMNS, empty: 'No failed queries.' })
  }

  private async printCounts(id: string): Promise<void> {
    const client = await this.client()
    this.out.record(await client.request('GET /knowledge-spaces/{id}/failed-queries/metrics', { path: { id } }))
  }

  private async listClusters(
    id: string,
    { limit: requestedLimit, status }: { limit?: number | undefined; status?: FailedQueryStatus | undefined },
  ): Promise<void> {
    const limit = Math.min(requestedLimit ?? (this.out.isTerminal ? DEFAULT_CLUSTERS : MAX_CLUSTERS), MAX_CLUSTERS)
    const client = await this.client()
    const { clusters } = await client.request('GET /knowledge-spaces/{id}/failed-queries/clusters', {
      path: { id },
      query: {
        limit,
        ...omitUndefined({ status }),
      },
    })
    await this.out.list(clusters, {
      columns: [
        { field: 'count', title: 'ASKED', kind: 'count' },
        { field: 'failedQueryIds.length', title: 'QUERIES', kind: 'count' },
        { field: 'representative.query', title: 'SUCH AS' },
        { field: 'representative.id', title: 'ID', kind: 'id' },
      ],
      empty: 'No failed queries.',
    })
    if (clusters.length === limit)
      this.out.note(`There may be more: ${limit < MAX_CLUSTERS ? 'give a greater `--limit`' : 'this is the maximum'}.`)
  }
}
