import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { SpaceDeletion } from '../../cli/json-output/machine.js'
import { confirmByName } from '../../cli/prompt.js'

export default class SpacesDelete extends BaseCommand {
  static override summary = 'delete a space and everything in it'
  static override examples = ['<%= config.bin %> spaces delete example-space --confirm example-space']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    confirm: Flags.string({ helpValue: 'slug', description: 'slug of the space, to confirm without a prompt' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesDelete)
    const name = args.space ?? flags.space
    // The configured space is never deleted by default.
    if (name === undefined) throw usageError('`ks spaces delete` needs SPACE', '`ks spaces` lists all')
    const { id, space } = await this.resolveSpace(name)
    const client = await this.client()
    const { slug, name: title } = space ?? (await client.request('GET /knowledge-spaces/{id}', { path: { id } }))
    const question = `deleting the space ${JSON.stringify(title)} with all its documents`
    if (!(await confirmByName(question, slug, { ...this.prompt, given: flags.confirm }))) {
      this.out.note('Nothing was deleted.')
      return
    }
    await client.request('DELETE /knowledge-spaces/{id}', { path: { id } })
    if (this.out.isJson) this.out.json({ id, slug, deleted: true } satisfies SpaceDeletion)
    else this.out.note(`Deleted ${slug}.`)
  }
}
