import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { spaceFlag } from '../cli/common-flags.js'
import {
  FSCK_CHECKS,
  getSeverityRank,
  ISSUE_COLUMNS,
  ISSUE_FIELDS,
  ISSUE_SEVERITIES,
  listIssues,
  REPAIR_COLUMNS,
  runRepairs,
} from '../cli/integrity/issues.js'
import { confirm } from '../cli/prompt.js'
import { EXIT } from '../contract/errors.js'
import type { FsckCheck, RepairReport } from '../contract/gateway/integrity.js'
import { pluralize } from '../lib/text/pluralize.js'

type FsckRepair = RepairReport['items'][number]

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
    check: Flags.string({ options: [...FSCK_CHECKS, 'all'], default: 'all', description: 'check to run' }),
    deep: Flags.boolean({ description: 'also search for every passage by its vector and its rarest word' }),
    repair: Flags.boolean({ description: 'repair the repairable issues' }),
    repairable: Flags.boolean({ description: 'only issues that --repair can repair' }),
    'fail-on': Flags.string({
      options: [...ISSUE_SEVERITIES],
      default: 'error',
      description: 'minimum severity for exit code 10',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Fsck)
    const { id } = args.space === undefined ? await this.space() : await this.resolveSpace(args.space)
    const checks: readonly FsckCheck[] = FSCK_CHECKS.filter((check) => flags.check === 'all' || flags.check === check)
    const selection = { id, checks, deep: flags.deep }
    if (flags.repair) await this.repair(selection)
    else await this.check(selection, { repairable: flags.repairable, failOn: flags['fail-on'] })
  }

  private async check(
    selection: { id: string; checks: readonly FsckCheck[]; deep: boolean },
    { repairable, failOn }: { repairable: boolean; failOn: string },
  ): Promise<void> {
    const client = await this.client()
    const counts = { scanned: 0, failing: 0, repairable: 0 }
    async function* filterIssues() {
      for await (const issue of listIssues(client, selection, (scanned) => (counts.scanned += scanned))) {
        const isRepairable = issue.repairability === 'auto-repairable'
        if (repairable && !isRepairable) continue
        if (isRepairable) counts.repairable++
        if (getSeverityRank(issue.severity) >= getSeverityRank(failOn)) counts.failing++
        yield issue
      }
    }
    const issueCount = await this.out.list(filterIssues(), {
      columns: ISSUE_COLUMNS,
      fields: ISSUE_FIELDS,
      empty: repairable ? 'No issues that can be repaired automatically.' : 'No issues.',
    })
    this.out.note(`${pluralize(counts.scanned, 'item')} checked, ${pluralize(issueCount, 'issue')}`)
    if (counts.repairable > 0)
      this.out.note(`hint: \`ks fsck --repair\` repairs ${pluralize(counts.repairable, 'issue')}`)
    if (counts.failing > 0) throw new ExitWith(EXIT.checkFailed)
  }

  private async repair(selection: { id: string; checks: readonly FsckCheck[]; deep: boolean }): Promise<void> {
    const client = await this.client()
    const planned: FsckRepair[] = []
    for await (const item of runRepairs(client, { ...selection, dryRun: true })) planned.push(item)
    const repairableCount = planned.filter((item) => item.status === 'would-repair').length
    const interactive = !this.common.yes
    if (repairableCount === 0 || interactive) await this.printRepairs(planned)
    if (repairableCount > 0) {
      if (!(await confirm(`repairing ${pluralize(repairableCount, 'issue')}`, this.prompt))) {
        this.out.note('Nothing was repaired.')
        return
      }
      const repaired: FsckRepair[] = []
      for await (const item of runRepairs(client, { ...selection, dryRun: false })) repaired.push(item)
      await this.printRepairs(repaired)
      if (repaired.some((item) => item.status !== 'repaired')) throw new ExitWith(EXIT.checkFailed)
    } else if (planned.length > 0) throw new ExitWith(EXIT.checkFailed)
  }

  private async printRepairs(items: FsckRepair[]): Promise<void> {
    await this.out.list(items, {
      columns: REPAIR_COLUMNS,
      fields: ISSUE_FIELDS.map((field) => `issue.${field}`),
      empty: 'Nothing to repair.',
    })
  }
}
