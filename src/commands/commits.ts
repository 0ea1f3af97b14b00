import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { listFlags, spaceFlag } from '../cli/common-flags.js'
import { paginate } from '../client/pages.js'
import { LIMITS } from '../contract/limits.js'
import { STAGED_COMMIT_STATUSES } from '../contract/values.js'

export default class Commits extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the changes of a space by uploads and reindexing, and how they ended'
  static override aliases = ['commits:list', 'commits:ls']
  static override examples = ['<%= config.bin %> commits example-space --status failed-terminal']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    status: Flags.string({ options: STAGED_COMMIT_STATUSES, description: 'only changes with this status' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Commits)
    const { id } = args.space === undefined ? await this.space() : await this.resolveSpace(args.space)
    const client = await this.client()
    const status = STAGED_COMMIT_STATUSES.find((candidate) => candidate === flags.status)
    const commits = paginate(
      (query) =>
        client.request('GET /knowledge-spaces/{id}/staged-commits', {
          path: { id },
          query: status === undefined ? query : { ...query, status },
        }),
      { ...this.getListRange(flags), pageSize: LIMITS.page.cap },
    )
    await this.list(commits, {
      columns: [
        { field: 'id', kind: 'id' },
        { field: 'operationType', title: 'OPERATION', isDetail: true },
        { field: 'status', kind: 'state' },
        { field: 'documentAssetId', title: 'DOCUMENT', kind: 'id' },
        { field: 'sizeBytes', title: 'SIZE', kind: 'bytes' },
        { field: 'errorCode', title: 'ERROR' },
        { field: 'updatedAt', title: 'CHANGED', kind: 'time' },
      ],
      fields: [
        'idempotencyKey',
        'checksum',
        'publishedObjectKey',
        'rawObjectKey',
        'errorMessage',
        'expiresAt',
        'createdAt',
      ],
      empty: 'No changes yet.',
    })
  }
}
