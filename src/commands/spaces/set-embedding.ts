import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
import { parseModelReference } from '../../cli/resources.js'
import { ApiError } from '../../client/errors.js'
import type { EmbeddingMigration } from '../../contract/gateway/embedding-migrations.js'
import { formatCount, pluralize } from '../../lib/text/pluralize.js'

const FIELDS = ['id', 'state', 'filled', 'total', 'refused', 'error'] as const

export default class SpacesSetEmbedding extends BaseCommand {
  static override summary = 'set the embedding model of a space'
  static override description =
    'A space with documents is migrated: new vectors are computed in addition to the old ones, which queries use until the new ones are complete. A failed migration leaves the space unchanged.'
  static override examples = [
    '<%= config.bin %> spaces set-embedding example-space builtin/lsa/lsa-200',
    '<%= config.bin %> spaces set-embedding example-space openai-compatible/ollama/nomic-embed-text --wait',
  ]
  static override args = {
    space: Args.string({ required: true, description: 'slug or id' }),
    model: Args.string({ required: true, description: 'plugin/provider/model' }),
  }
  static override flags = {
    wait: Flags.boolean({ description: 'wait until queries use the new model; exits with 1 if the migration fails' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesSetEmbedding)
    const body = parseModelReference(args.model, 'MODEL')
    const { id } = await this.resolveSpace(args.space)
    const client = await this.client()
    try {
      this.out.record(await client.request('PUT /knowledge-spaces/{id}/embedding-profile', { path: { id }, body }))
      return
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'embedding-frozen') throw error
    }
    const migrations = 'POST /knowledge-spaces/{id}/embedding-profile/migrations'
    const started = await client.request(migrations, { path: { id }, body })
    const last = flags.wait ? await this.follow(id, started) : started
    this.out.record(last, { fields: [...FIELDS] })
    if (last.state === 'failed' || last.state === 'canceled')
      throw new CliError(`the space keeps its embedding model: ${last.error ?? 'the migration was canceled'}`, {
        code: 'migration-failed',
      })
  }

  private async follow(id: string, started: EmbeddingMigration): Promise<EmbeddingMigration> {
    const { followWork } = await import('../../cli/follow-work.js')
    const client = await this.client()
    const formatLine = ({ state, filled, total, error }: EmbeddingMigration) =>
      `${formatCount(filled)} of ${pluralize(total, 'passage')} moved to the new model${state === 'waiting' ? `; waiting: ${error}` : ''}`
    const path = { id, migrationId: started.id }
    const load = () => client.request('GET /knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}', { path })
    return followWork(this.out, started, { formatLine, load }, this.deadline.signal)
  }
}
