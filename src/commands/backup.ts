import * as Args from '@oclif/core/args'
import { countProgress } from '../cli/backup/progress.js'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { bytes, plural } from '../cli/units.js'
import { EXIT } from '../contract/errors.js'
import { dataLayout } from '../local/layout.js'

export default class Backup extends BaseCommand {
  static override summary = 'take a backup of the local data directory, while its daemon works or not'
  static override description =
    'Adds a snapshot to the folder. Snapshots share their objects, so a second one copies only what is new. It holds keys: keep the folder to yourself. Exit 3 when bytes of a document could not be read.'
  static override examples = ['<%= config.bin %> backup ~/backups/ks', '<%= config.bin %> backup ~/backups/ks --json']
  static override args = { folder: Args.string({ required: true, description: 'folder of backups; made when absent' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(Backup)
    const { resolve } = await import('node:path')
    const { takeBackup } = await import('../local/backup/take.js')
    const progress = countProgress(this.out, 'objects copied')
    const taken = await takeBackup({
      layout: dataLayout(this.dirs.data),
      to: resolve(args.folder),
      version: this.config.version,
      now: new Date(),
      onProgress: progress.at,
    }).finally(progress.end)
    const { snapshot, manifest, alreadyThere } = taken
    const size = manifest.objects.reduce((sum, object) => sum + object.size, 0)
    const { missing } = manifest
    if (this.out.isJson)
      this.out.json({
        snapshot,
        createdAt: manifest.createdAt,
        objects: manifest.objects.length,
        bytes: size,
        alreadyThere,
        missing,
      })
    else
      this.out.line(
        `snapshot ${snapshot}: ${plural(manifest.objects.length, 'object')}, ${bytes(size)}, ${alreadyThere} there already`,
      )
    if (missing.length > 0) {
      this.out.warn(
        `ks: the bytes of ${plural(missing.length, 'object')} could not be read as they were received; \`ks fsck\` names their documents`,
      )
      throw new ExitWith(EXIT.partial)
    }
  }
}
