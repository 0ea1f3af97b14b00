import * as Args from '@oclif/core/args'
import { showCountProgress } from '../cli/backup/progress.js'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import type { BackupOutput } from '../cli/json-output/machine.js'
import { localPath } from '../cli/local-path.js'
import { formatBytes } from '../cli/units.js'
import { EXIT } from '../contract/errors.js'
import { formatCount, pluralize } from '../lib/text/pluralize.js'
import { resolveDataLayout } from '../local/layout.js'

export default class Backup extends BaseCommand {
  static override summary = 'back up the local data directory, whether its daemon runs or not'
  static override isLocalOnly = true
  static override description =
    'Adds a snapshot to the folder. Snapshots share objects, so a further one copies only new objects. The backup contains keys: keep the folder private. Exits with 3 if bytes of a document cannot be read.'
  static override examples = ['<%= config.bin %> backup ~/backups/ks', '<%= config.bin %> backup ~/backups/ks --json']
  static override args = {
    folder: Args.string({ ...localPath, required: true, description: 'folder of backups; created if missing' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(Backup)
    const { resolve } = await import('node:path')
    const [{ takeBackup }, { measureFolder }] = await Promise.all([
      import('../local/backup/take.js'),
      import('../local/folder-size.js'),
    ])
    const folder = resolve(args.folder)
    const progress = showCountProgress(this.out, 'objects copied')
    const result = await takeBackup({
      layout: resolveDataLayout(this.dirs.data),
      folder,
      version: this.config.version,
      now: new Date(),
      onProgress: progress.update,
    }).finally(progress.end)
    const { snapshot, manifest, reusedObjectCount, addedBytes } = result
    const { bytes: diskBytes } = await measureFolder(folder)
    const size = manifest.objects.reduce((sum, object) => sum + object.size, 0)
    const { missing } = manifest
    if (this.out.isJson)
      this.out.json({
        snapshot,
        createdAt: manifest.createdAt,
        objects: manifest.objects.length,
        bytes: size,
        alreadyThere: reusedObjectCount,
        addedBytes,
        diskBytes,
        missing,
      } satisfies BackupOutput)
    else {
      const objects = `${pluralize(manifest.objects.length, 'object')}, ${formatBytes(size)}`
      this.out.line(`snapshot ${snapshot}: ${objects}, ${formatCount(reusedObjectCount)} already stored`)
      this.out.line(
        `on disk: ${formatBytes(addedBytes)} added, ${formatBytes(diskBytes)} in all snapshots of ${folder}`,
      )
    }
    if (missing.length > 0) {
      this.out.warn(
        `ks: the bytes of ${pluralize(missing.length, 'object')} are missing or damaged; \`ks fsck\` lists their documents`,
      )
      throw new ExitWith(EXIT.partial)
    }
  }
}
