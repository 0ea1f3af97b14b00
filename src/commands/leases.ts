import * as Args from '@oclif/core/args'
import { BaseCommand } from '../cli/base-command.js'
import { listFlags, spaceFlag } from '../cli/common-flags.js'
import { paginate } from '../client/pages.js'
import { LIMITS } from '../contract/limits.js'

export default class Leases extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the files of a space that are locked by running work'
  static override aliases = ['leases:list', 'leases:ls']
  static override examples = ['<%= config.bin %> leases example-space']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = { ...spaceFlag, ...listFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Leases)
    const { id } = args.space === undefined ? await this.space() : await this.resolveSpace(args.space)
    const client = await this.client()
    const leases = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/leases/active', { path: { id }, query }),
      { ...this.getListRange(flags), pageSize: LIMITS.page.cap },
    )
    await this.list(leases, {
      columns: [
        { field: 'id', kind: 'id' },
        { field: 'leaseType', title: 'TYPE' },
        { field: 'status', kind: 'state' },
        { field: 'virtualPath', title: 'HOLDS', kind: 'name' },
        { field: 'acquiredAt', title: 'SINCE', kind: 'time' },
        { field: 'expiresAt', title: 'UNTIL', kind: 'time' },
      ],
      fields: ['sessionId', 'targetType', 'targetId', 'targetVersion', 'heartbeatAt'],
      empty: 'Nothing is locked.',
    })
  }
}
