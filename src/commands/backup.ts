import * as Args from '@oclif/core/args'
import { showCountProgress } from '../cli/backup/progress.js'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { formatBytes, pluralize } from '../cli/units.js'
import { EXIT } from '../contract/errors.js'
import { resolveDataLayout } from '../local/layout.js'

export default class Backup extends BaseCommand {
  static override summary = 'back up the local data directory, whether its daemon runs or not'
  static override isLocalOnly = true
  static override description =
    'Adds a snapshot to the folder. Snapshots share objects, so a further one copies only new objects. The backup contains keys: keep the folder private. Exits with 3 if bytes of a document cannot be read.'
  static override examples = ['<%= config.bin %> backup ~/backups/ks', '<%= config.bin %> backup ~/backups/ks --json']
  static override args = {
    folder: Args.string({ required: true, description: 'folder of backups; created if missing' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(Backup)
    const { resolve } = await import('node:path')
    const { takeBackup } = await import('../local/backup/take.js')
    const progress = showCountProgress(this.out, 'objects copied')
    const result = await takeBackup({
      layout: resolveDataLayout(this.dirs.data),
      folder: resolve(args.folder),
      version: this.config.version,
      now: new Date(),
      onProgress: progress.update,
    }).finally(progress.end)
    const { snapshot, manifest, reusedObjectCount } = result
    const size = manifest.objects.reduce((sum, object) => sum + object.size, 0)
    const { missing } = manifest
    if (this.out.isJson)
      this.out.json({
        snapshot,
        createdAt: manifest.createdAt,
        objects: manifest.objects.length,
        bytes: size,
        alreadyThere: reusedObjectCount,
        missing,
      })
    else
      this.out.line(
        `snapshot ${snapshot}: ${pluralize(manifest.objects.length, 'object')}, ${formatBytes(size)}, ${reusedObjectCount} already stored`,
      )
    if (missing.length > 0) {
      this.out.warn(
        `ks: the bytes of ${pluralize(missing.length, 'object')} are missing or damaged; \`ks fsck\` lists their documents`,
      )
      throw new ExitWith(EXIT.partial)
    }
  }
}
