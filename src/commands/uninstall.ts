import { existsSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import type { UninstallOutput } from '../cli/json-output/machine.js'
import { confirm } from '../cli/prompt.js'
import { describePackageRemoval, listInstalledParts } from '../cli/uninstall.js'
import { pluralize } from '../lib/text/pluralize.js'

export default class Uninstall extends BaseCommand {
  static override summary = 'remove what ks put on this machine: service, completion, entries of MCP clients'
  static override description =
    'Stops the daemon. Data, settings and caches stay, unless --data is given. Backups stay. Prints the command that removes the package itself.'
  static override isLocalOnly = true
  static override examples = ['<%= config.bin %> uninstall --dry-run', '<%= config.bin %> uninstall --data --dry-run']
  static override flags = {
    data: Flags.boolean({ description: 'also delete all spaces, settings and caches of this machine' }),
    'dry-run': Flags.boolean({ description: 'show what would be removed, without removing' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Uninstall)
    const isDryRun = flags['dry-run'] === true
    const parts = await listInstalledParts(this.dirs, process.env, { withData: flags.data })
    const shown = parts.map(({ kind, path }) => ({ kind, path }))
    if (parts.length > 0 && !isDryRun) {
      for (const { kind, path } of shown) this.out.note(`${kind}: ${path}`)
      const extent = flags.data ? 'including all data, which cannot be restored without a backup' : 'but no data'
      if (!(await confirm(`remove ${pluralize(parts.length, 'part')}, ${extent}`, this.prompt))) return
      for (const part of parts) await part.remove()
    }
    const kept = isDryRun ? [] : parts.flatMap(({ kind, path }) => (kind === 'data' && existsSync(path) ? [path] : []))
    const packageRemoval = describePackageRemoval(this.config.root)
    if (this.out.isJson)
      return this.out.json({ dryRun: isDryRun, removed: shown, kept, packageRemoval } satisfies UninstallOutput)
    for (const { kind, path } of shown) this.out.line(`${isDryRun ? 'would be removed' : 'removed'}: ${kind} ${path}`)
    if (parts.length === 0) this.out.note('nothing to remove besides the package')
    for (const path of kept) this.out.note(`kept ${path}: it contains files that ks did not write`)
    if (!flags.data && existsSync(this.dirs.data))
      this.out.note(`the data stays in ${this.dirs.data}: \`--data\` deletes it`)
    this.out.note(
      'entries in project files stay: `ks mcp install CLIENT --project --uninstall`, in the folder of the project',
    )
    this.out.note(`the package: ${packageRemoval}`)
  }
}
