import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { spaceFlag } from '../cli/common-flags.js'
import {
  CHECKS,
  ISSUE_COLUMNS,
  ISSUE_FIELDS,
  issuesOf,
  REPAIR_COLUMNS,
  repairs,
  SEVERITIES,
  severityRank,
} from '../cli/integrity/issues.js'
import { confirm } from '../cli/prompt.js'
import { plural } from '../cli/units.js'
import { EXIT } from '../contract/errors.js'
import type { FsckCheck, RepairReport } from '../contract/gateway/integrity.js'

type Repaired = RepairReport['items'][number]

export default class Fsck extends BaseCommand {
  static override summary = 'check that documents, passages and indexes of a space are consistent'
  static override description =
    'Exits with 10 if an issue is as severe as --fail-on or worse. --repair first shows its repairs and asks for confirmation; it repairs only issues that need neither a person nor a model.'
  static override examples = [
    '<%= config.bin %> fsck example-space',
    '<%= config.bin %> fsck example-space --check references --deep',
    '<%= config.bin %> fsck example-space --repair --yes',
  ]
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    check: Flags.string({ options: [...CHECKS, 'all'], default: 'all', description: 'check to run' }),
    deep: Flags.boolean({ description: 'also search for every passage by its vector and its rarest word' }),
    repair: Flags.boolean({ description: 'repair the repairable issues' }),
    repairable: Flags.boolean({ description: 'only issues that --repair can repair' }),
    'fail-on': Flags.string({
      options: [...SEVERITIES],
      default: 'error',
      description: 'minimum severity for exit code 10',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Fsck)
    const { id } = args.space === undefined ? await this.space() : await this.spaceNamed(args.space)
    const checks: readonly FsckCheck[] = CHECKS.filter((check) => flags.check === 'all' || flags.check === check)
    const which = { id, checks, deep: flags.deep }
    if (flags.repair) await this.repair(which)
    else await this.check(which, { repairable: flags.repairable, failOn: flags['fail-on'] })
  }

  private async check(
    which: { id: string; checks: readonly FsckCheck[]; deep: boolean },
    { repairable, failOn }: { repairable: boolean; failOn: string },
  ): Promise<void> {
    const client = await this.client()
    const seen = { scanned: 0, failing: 0, repairable: 0 }
    async function* wanted() {
      for await (const issue of issuesOf(client, which, (scanned) => (seen.scanned += scanned))) {
        const mends = issue.repairability === 'auto-repairable'
        if (repairable && !mends) continue
        if (mends) seen.repairable++
        if (severityRank(issue.severity) >= severityRank(failOn)) seen.failing++
        yield issue
      }
    }
    const shown = await this.out.list(wanted(), {
      columns: ISSUE_COLUMNS,
      fields: ISSUE_FIELDS,
      empty: repairable ? 'No issues that can be repaired automatically.' : 'No issues.',
    })
    this.out.note(`${plural(seen.scanned, 'item')} checked, ${plural(shown, 'issue')}`)
    if (seen.repairable > 0) this.out.note(`hint: \`ks fsck --repair\` repairs ${plural(seen.repairable, 'issue')}`)
    if (seen.failing > 0) throw new ExitWith(EXIT.checkFailed)
  }

  private async repair(which: { id: string; checks: readonly FsckCheck[]; deep: boolean }): Promise<void> {
    const client = await this.client()
    const planned: Repaired[] = []
    for await (const item of repairs(client, which, true)) planned.push(item)
    const mends = planned.filter((item) => item.status === 'would-repair').length
    const interactive = !this.common.yes
    if (mends === 0 || interactive) await this.show(planned)
    if (mends > 0) {
      if (!(await confirm(`repairing ${plural(mends, 'issue')}`, this.prompt))) {
        this.out.note('Nothing was repaired.')
        return
      }
      const done: Repaired[] = []
      for await (const item of repairs(client, which, false)) done.push(item)
      await this.show(done)
      if (done.some((item) => item.status !== 'repaired')) throw new ExitWith(EXIT.checkFailed)
    } else if (planned.length > 0) throw new ExitWith(EXIT.checkFailed)
  }

  private async show(items: Repaired[]): Promise<void> {
    await this.out.list(items, {
      columns: REPAIR_COLUMNS,
      fields: ISSUE_FIELDS.map((field) => `issue.${field}`),
      empty: 'Nothing to repair.',
    })
  }
}
