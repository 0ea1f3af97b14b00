import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError, usageError } from '../../cli/cli-error.js'
import type { RemovedModels } from '../../cli/json-output/models.js'
import { removeRuntime } from '../../cli/models/pull/install-runtime.js'
import { listUnfinished, lockModels, removeModelFolder } from '../../cli/models/pull/publish.js'
import { EXIT } from '../../contract/errors.js'
import { resolveDataLayout } from '../../local/layout.js'
import { listPulledModels, toModelReference } from '../../local/models/pulled.js'

export default class ModelsRemove extends BaseCommand {
  static override summary = 'remove a model from this machine, or its unfinished download'
  static override isLocalOnly = true
  static override description =
    'Queries in spaces that use it as their embedding model are rejected until it is pulled again. The runtime is removed with the last model.'
  static override examples = ['<%= config.bin %> models remove all-minilm-l6-v2']
  static override args = {
    model: Args.string({ required: true, description: 'name, NAME@HASH, or reference of the model' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(ModelsRemove)
    const { models } = resolveDataLayout(this.dirs.data)
    const name = args.model.toLowerCase()
    const matches = listPulledModels(models)
      .map(({ id }) => id)
      .filter((id) => id === name || toModelReference(id) === name || id.startsWith(`${name}@`))
    if (matches.length > 1) throw usageError(`${name} matches ${matches.join(' and ')}`, 'give one of them')
    const folders = [...matches, ...(listUnfinished(models).includes(name) ? [`${name}.part`] : [])]
    if (folders.length === 0)
      throw new CliError(`this machine has no model ${JSON.stringify(args.model)}`, {
        code: 'not-found',
        exit: EXIT.notFound,
        hint: '`ks models pull --list` lists them',
      })
    const lock = await lockModels(models)
    try {
      for (const folder of folders) await removeModelFolder(models, folder)
      if (listPulledModels(models).length === 0 && listUnfinished(models).length === 0) await removeRuntime(models)
    } finally {
      lock.release()
    }
    if (this.out.isJson) this.out.json({ removed: matches.map(toModelReference) } satisfies RemovedModels)
    else this.out.line(`removed ${name}`)
  }
}
