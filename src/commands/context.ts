import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { spaceFlag } from '../cli/common-flags.js'
import { requireContext } from '../cli/contexts.js'
import { removeCredential } from '../cli/credentials.js'
import type { AddedContext, ContextRow, CurrentContext } from '../cli/json-output/machine.js'
import { LOCAL_CONTEXT, normalizeServiceUrl, readUserConfig, writeUserConfig } from '../cli/user-config.js'
import { omitUndefined } from '../lib/omit-undefined.js'

export default class Context extends BaseCommand {
  static override summary = 'list the configured services, or select, add or remove one'
  static override description = 'With `--url`, adds a service under the name, or changes it; without, selects it.'
  static override examples = [
    '<%= config.bin %> context work --url https://kb.example.com --space example-space',
    '<%= config.bin %> context work',
    '<%= config.bin %> context local',
    '<%= config.bin %> context --show',
    '<%= config.bin %> context work --remove',
  ]
  static override args = { name: Args.string({ description: 'name of the context; local is the local daemon' }) }
  static override flags = {
    ...spaceFlag,
    show: Flags.boolean({ description: 'show the service that commands use here, and why' }),
    remove: Flags.boolean({ description: 'remove the service and its stored token' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Context)
    const { name } = args
    if (flags.show) return this.showCurrent()
    if (name === undefined) {
      if (flags.remove) throw usageError('--remove needs NAME', '`ks context` lists the contexts')
      return await this.listContexts()
    }
    const { url } = this.common.context
    if (flags.remove) this.remove(name)
    else if (url !== undefined) this.add(name, url, flags.space)
    else if (flags.space === undefined) this.select(name)
    else throw usageError('--space is stored with an address', 'give `--url URL`, too')
  }

  private async listContexts(): Promise<void> {
    const { user } = this.settings
    const current = user.currentContext ?? LOCAL_CONTEXT
    const local = { name: LOCAL_CONTEXT, url: `local daemon of ${this.dirs.data}`, space: undefined }
    const configured = Object.entries(user.contexts).map(([name, { url, space }]) => ({ name, url, space }))
    const contexts = configured.some((context) => context.name === LOCAL_CONTEXT) ? configured : [local, ...configured]
    await this.out.list(
      contexts.map((context): ContextRow => ({ ...context, current: context.name === current })),
      {
        columns: [{ field: 'name' }, { field: 'current' }, { field: 'url' }, { field: 'space' }],
        empty: 'No contexts.',
      },
    )
  }

  private showCurrent(): void {
    const { service: location, space, project } = this.settings
    const target =
      location.value.kind === 'local'
        ? { context: 'local' as const, dataDir: location.value.dataDir }
        : { context: location.value.context, url: location.value.url, hasToken: location.value.token !== undefined }
    this.out.record({
      ...target,
      chosenBy: location.origin,
      ...omitUndefined({ space: space?.value, spaceChosenBy: space?.origin, projectFile: project?.path }),
    } satisfies CurrentContext)
  }

  private add(name: string, url: string, space: string | undefined): void {
    if (name === LOCAL_CONTEXT || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
      throw usageError(`${JSON.stringify(name)} cannot be the name of a context: letters, digits and . _ -, not local`)
    }
    const config = readUserConfig(this.dirs.config)
    const entry = { url: normalizeServiceUrl(url), ...omitUndefined({ space }) }
    config.contexts[name] = entry
    writeUserConfig(this.dirs.config, config)
    if (this.out.isJson) this.out.json({ name, ...entry } satisfies AddedContext)
    else this.out.note(`Added ${name}.\nhint: \`ks auth login --context ${name}\`, then \`ks context ${name}\``)
  }

  private select(name: string): void {
    const config = readUserConfig(this.dirs.config)
    requireContext(name, config)
    config.currentContext = name
    writeUserConfig(this.dirs.config, config)
    this.out.note(`Commands now use ${name}.`)
  }

  private remove(name: string): void {
    const config = readUserConfig(this.dirs.config)
    const entry = requireContext(name, config)
    if (entry !== undefined) {
      removeCredential(this.dirs.config, { origin: new URL(entry.url).origin, context: name })
      delete config.contexts[name]
    }
    if (config.currentContext === name) delete config.currentContext
    writeUserConfig(this.dirs.config, config)
    this.out.note(`Removed ${name}.`)
  }
}
