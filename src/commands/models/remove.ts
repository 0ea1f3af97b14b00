import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError, usageError } from '../../cli/cli-error.js'
import { discard, unfinished } from '../../cli/models/pull/publish.js'
import { EXIT } from '../../contract/errors.js'
import { dataLayout } from '../../local/layout.js'
import { pulledModels, referenceOf } from '../../local/models/pulled.js'

export default class ModelsRemove extends BaseCommand {
  static override summary = 'remove a model from this machine, or what a pull of it left unfinished'
  static override description =
    'Spaces that use the model answer by words alone until it is pulled again: the same file has the same name.'
  static override examples = ['<%= config.bin %> models remove all-minilm-l6-v2']
  static override args = {
    model: Args.string({ required: true, description: 'name, NAME@HASH, or reference of the model' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(ModelsRemove)
    const { models } = dataLayout(this.dirs.data)
    const wanted = args.model.toLowerCase()
    const found = pulledModels(models)
      .map(({ id }) => id)
      .filter((id) => id === wanted || referenceOf(id) === wanted || id.startsWith(`${wanted}@`))
    if (found.length > 1) throw usageError(`${wanted} is the name of ${found.join(' and ')}`, 'name one of them')
    const folders = [...found, ...(unfinished(models).includes(wanted) ? [`${wanted}.part`] : [])]
    if (folders.length === 0)
      throw new CliError(`no model ${JSON.stringify(args.model)} is on this machine`, {
        code: 'not-found',
        exit: EXIT.notFound,
        hint: '`ks models pull --list` lists them',
      })
    for (const folder of folders) await discard(models, folder)
    if (this.out.isJson) this.out.json({ removed: found.map(referenceOf) })
    else this.out.line(`removed ${wanted}`)
  }
}
