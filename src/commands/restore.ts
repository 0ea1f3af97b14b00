import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { showCountProgress } from '../cli/backup/progress.js'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { FSCK_CHECKS, getSeverityRank, listIssues } from '../cli/integrity/issues.js'
import type { RestoreOutput } from '../cli/json-output/machine.js'
import { localPath } from '../cli/local-path.js'
import { EXIT } from '../contract/errors.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { pluralize } from '../lib/text/pluralize.js'

export default class Restore extends BaseCommand {
  static override summary = 'restore a backup into an empty data directory and check it'
  static override isLocalOnly = true
  static override description =
    'Compares everything with the manifest of the backup, then checks every space like fsck. Exits with 10 if an issue is an error or worse, 5 without a complete snapshot, 6 if the directory is not empty, 8 if the backup is damaged.'
  static override examples = ['<%= config.bin %> restore ~/backups/ks --into ~/restored']
  static override args = { folder: Args.string({ ...localPath, required: true, description: 'folder of `ks backup`' }) }
  static override flags = {
    into: Flags.string({
      ...localPath,
      description: 'data directory, missing or empty (default: the data directory of this user)',
    }),
    snapshot: Flags.string({ description: 'snapshot to restore (default: the newest)' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Restore)
    const { resolve } = await import('node:path')
    const { restoreBackup } = await import('../local/backup/restore.js')
    const dataDir = flags.into === undefined ? this.dirs.data : resolve(flags.into)
    const progress = showCountProgress(this.out, 'objects restored')
    const { snapshot, manifest } = await restoreBackup({
      backupFolder: resolve(args.folder),
      snapshot: flags.snapshot,
      dataDir,
      onProgress: progress.update,
    }).finally(progress.end)
    const checkResult = await this.check(dataDir)
    const objects = manifest.objects.length
    const { createdAt } = manifest
    if (this.out.isJson)
      this.out.json({ snapshot, createdAt, dataDir, objects, ...checkResult } satisfies RestoreOutput)
    else {
      this.out.line(
        `restored snapshot ${snapshot} to ${dataDir}: ${pluralize(objects, 'object')}, ${pluralize(checkResult.spaces, 'space')}`,
      )
      this.out.line(`fsck: ${pluralize(checkResult.issues.length, 'issue')}`)
      for (const { severity, message } of checkResult.issues) this.out.line(`${severity}: ${message}`)
    }
    if (checkResult.issues.some(({ severity }) => getSeverityRank(severity) >= getSeverityRank('error')))
      throw new ExitWith(EXIT.checkFailed)
  }

  /** Checks every space of the restored directory with a private, temporary daemon. */
  private async check(dataDir: string) {
    const { startPrivateDaemon } = await import('../cli/private-daemon.js')
    const { Client } = await import('../client/client.js')
    const { readIfExists } = await import('../local/private-file.js')
    const daemon = await startPrivateDaemon(dataDir)
    const token = readIfExists(daemon.env.KS_TOKEN_FILE ?? '')?.trim()
    const client = new Client({ url: daemon.env.KS_URL ?? '', ...omitUndefined({ token }) })
    try {
      const issues: RestoreOutput['issues'] = []
      let spaces = 0
      let cursor: string | undefined
      do {
        const query = cursor === undefined ? {} : { cursor }
        const page = await client.request('GET /knowledge-spaces', { query })
        for (const { id, slug } of page.items) {
          spaces++
          for await (const issue of listIssues(client, { id, checks: FSCK_CHECKS, deep: false }, () => {}))
            issues.push({ space: slug, severity: issue.severity, code: issue.code, message: issue.message })
        }
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return { spaces, issues }
    } finally {
      client.close()
      await daemon.stop()
    }
  }
}
