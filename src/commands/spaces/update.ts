import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError, usageError } from '../../cli/cli-error.js'
import { spaceFlag, waitFlag } from '../../cli/common-flags.js'
import { resolveId } from '../../cli/resolve.js'
import { parseModelReference, SPACE_COLUMNS } from '../../cli/resources.js'
import { changeProfile, hasProfileFlag, profileFlags } from '../../cli/retrieval-profile.js'
import { ApiError } from '../../client/errors.js'
import type { EmbeddingMigration } from '../../contract/gateway/embedding-migrations.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SpacesUpdate extends BaseCommand {
  static override summary = 'change the name, retrieval profile or embedding model of a space'
  static override description =
    'A space with documents gets another embedding model by a migration: new vectors are computed in addition to the old ones, which queries use until the new ones are complete. A failed migration leaves the space unchanged.'
  static override examples = [
    '<%= config.bin %> spaces update example-space --name "Field notes"',
    '<%= config.bin %> spaces update example-space --reasoning-model openai-compatible/local/qwen3',
    '<%= config.bin %> spaces update example-space --default-mode deep --top-k 20',
    '<%= config.bin %> spaces update example-space --embedding builtin/lsa/lsa-200 --wait',
    "<%= config.bin %> spaces update example-space --cancel-embedding '#a1b2c3d4'",
  ]
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    name: Flags.string({ helpValue: 'name', description: 'new name' }),
    slug: Flags.string({ helpValue: 'slug', description: 'new slug' }),
    description: Flags.string({ helpValue: 'text', description: 'new description' }),
    ...profileFlags,
    embedding: Flags.string({ helpValue: 'plugin/provider/model', description: 'embedding model' }),
    ...waitFlag('wait until queries use the new embedding model; exits with 1 if the migration fails', {
      dependsOn: ['embedding'],
    }),
    'cancel-embedding': Flags.string({
      helpValue: 'id',
      description: 'cancel the migration with this id to another embedding model',
      exclusive: ['embedding'],
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesUpdate)
    const { name, slug, description, embedding, 'cancel-embedding': migration } = flags
    const hasName = (name ?? slug ?? description) !== undefined
    const hasProfile = hasProfileFlag(flags)
    if (!hasName && !hasProfile && embedding === undefined && migration === undefined)
      throw usageError(
        'nothing to change',
        'give `--name`, `--slug`, `--embedding`, or a flag of the retrieval profile',
      )
    const { id } = await this.spaceOf(args.space)
    if (hasName) await this.updateNames(id, omitUndefined({ name, slug, description }))
    if (hasProfile) await this.updateProfile(id, flags)
    if (embedding !== undefined) await this.setEmbedding(id, embedding, flags)
    if (migration !== undefined) await this.cancelEmbedding(id, migration)
  }

  private async updateNames(id: string, body: { name?: string; slug?: string; description?: string }): Promise<void> {
    const client = await this.client()
    const space = await client.request('PATCH /knowledge-spaces/{id}', { path: { id }, body })
    this.out.record(space, { columns: SPACE_COLUMNS })
  }

  private async updateProfile(id: string, flags: Parameters<typeof changeProfile>[1]): Promise<void> {
    const client = await this.client()
    const current = await client.request('GET /knowledge-spaces/{id}/retrieval-profile', { path: { id } })
    const body = changeProfile(current, flags)
    this.out.record(await client.request('PUT /knowledge-spaces/{id}/retrieval-profile', { path: { id }, body }))
  }

  private async setEmbedding(id: string, model: string, { wait }: { wait: boolean }): Promise<void> {
    const body = parseModelReference(model, '--embedding')
    const client = await this.client()
    try {
      this.out.record(await client.request('PUT /knowledge-spaces/{id}/embedding-profile', { path: { id }, body }))
      return
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'embedding-frozen') throw error
    }
    const migrations = 'POST /knowledge-spaces/{id}/embedding-profile/migrations'
    const started = await client.request(migrations, { path: { id }, body })
    const last = wait ? await this.follow(id, started) : started
    this.out.record(last)
    if (last.state === 'failed' || last.state === 'canceled')
      throw new CliError(`the space keeps its embedding model: ${last.error ?? 'the migration was canceled'}`, {
        code: 'migration-failed',
      })
  }

  private async cancelEmbedding(id: string, migration: string): Promise<void> {
    const migrationId = resolveId('migration', migration, this.dirs.cache)
    const client = await this.client()
    const path = { id, migrationId }
    const canceled = await client.request('DELETE /knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}', {
      path,
    })
    this.out.record(canceled)
  }

  private async follow(id: string, started: EmbeddingMigration): Promise<EmbeddingMigration> {
    const { followWork } = await import('../../cli/follow-work.js')
    const client = await this.client()
    const formatLine = ({ state, filled, total, error }: EmbeddingMigration) =>
      `${filled} of ${total} passages have a vector of the new model${state === 'waiting' ? `; waiting: ${error}` : ''}`
    const path = { id, migrationId: started.id }
    const load = () => client.request('GET /knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}', { path })
    return followWork(this.out, started, { formatLine, load }, this.deadline.signal)
  }
}
