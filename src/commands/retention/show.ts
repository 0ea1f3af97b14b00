import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { printRetentionPolicy } from '../../cli/retention.js'

export default class RetentionShow extends BaseCommand {
  static override summary = 'show the retention rules of a space or of the tenant'
  static override examples = [
    '<%= config.bin %> retention show --space example-space',
    '<%= config.bin %> retention show --json',
  ]
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { flags } = await this.parse(RetentionShow)
    const client = await this.client()
    if (flags.space === undefined) {
      printRetentionPolicy(this.out, await client.request('GET /retention-policy', {}))
      return
    }
    const { id } = await this.resolveSpace(flags.space)
    const policy = await client.request('GET /knowledge-spaces/{id}/retention-policy', { path: { id } })
    printRetentionPolicy(this.out, policy)
  }
}
