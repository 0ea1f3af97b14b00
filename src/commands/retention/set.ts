import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { parseRetentionChanges, printRetentionPolicy } from '../../cli/retention.js'

export default class RetentionSet extends BaseCommand {
  static override summary = 'change retention rules; other rules stay unchanged'
  static override examples = [
    '<%= config.bin %> retention set answerTraceRetentionDays=30 --space example-space',
    '<%= config.bin %> retention set rawDocumentRetentionDays=none parseArtifactVersions=5 --space example-space',
  ]
  static override strict = false
  static override args = {
    change: Args.string({
      required: true,
      description: 'rule=number, repeatable; rawDocumentRetentionDays=none keeps documents for ever',
    }),
  }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(RetentionSet)
    const body = parseRetentionChanges(argv.map(String))
    const client = await this.client()
    if (flags.space === undefined) {
      printRetentionPolicy(this.out, await client.request('PATCH /retention-policy', { body }))
      return
    }
    const { id } = await this.resolveSpace(flags.space)
    const policy = await client.request('PATCH /knowledge-spaces/{id}/retention-policy', { path: { id }, body })
    printRetentionPolicy(this.out, policy)
  }
}
