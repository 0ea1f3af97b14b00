import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { spaceFlag } from '../cli/common-flags.js'
import { checkEverySpace } from '../cli/integrity/every-space.js'
import {
  countIssues,
  FSCK_CHECKS,
  type FsckSelection,
  ISSUE_COLUMNS,
  ISSUE_SEVERITIES,
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
    'Exits with 10 if an issue is as severe as --fail-on or worse. --repair first shows its repairs and asks for confirmation; it repairs only issues that need neither a person nor a model. --all prints a line for each space and exits with the highest code.'
  static override examples = [
    '<%= config.bin %> fsck example-space',
    '<%= config.bin %> fsck example-space --check references --deep',
    '<%= config.bin %> fsck example-space --repair --yes',
    '<%= config.bin %> fsck --all',
  ]
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    all: Flags.boolean({ description: 'every space that the token may see' }),
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
    const checks: readonly FsckCheck[] = FSCK_CHECKS.filter((check) => flags.check === 'all' || flags.check === check)
    const filter = { repairable: flags.repairable, failOn: flags['fail-on'] }
    if (flags.all) {
      checkEverySpace(args.space ?? flags.space)
      const { checkSpaces, repairSpaces } = await import('../cli/integrity/check-spaces.js')
      const session = { client: await this.client(), out: this.out, prompt: this.prompt }
      const exit = flags.repair
        ? await repairSpaces(session, { checks, deep: flags.deep })
        : await checkSpaces(session, { checks, deep: flags.deep, ...filter })
      if (exit !== EXIT.ok) throw new ExitWith(exit)
      return
    }
    const { id } = args.space === undefined ? await this.space() : await this.resolveSpace(args.space)
    const selection = { id, checks, deep: flags.deep }
    if (flags.repair) await this.repair(selection)
    else await this.check(selection, filter)
  }

  private async check(
    selection: FsckSelection,
    { repairable, failOn }: { repairable: boolean; failOn: string },
  ): Promise<void> {
    const counts = { scanned: 0, failing: 0, repairable: 0 }
    const issues = countIssues(await this.client(), selection, { repairable, failOn }, counts)
    const issueCount = await this.out.list(issues, {
      columns: ISSUE_COLUMNS,
      empty: repairable ? 'No issues that can be repaired automatically.' : 'No issues.',
    })
    this.out.note(`${pluralize(counts.scanned, 'item')} checked, ${pluralize(issueCount, 'issue')}`)
    if (counts.repairable > 0)
      this.out.note(`hint: \`ks fsck --repair\` repairs ${pluralize(counts.repairable, 'issue')}`)
    if (counts.failing > 0) throw new ExitWith(EXIT.checkFailed)
  }

  private async repair(selection: FsckSelection): Promise<void> {
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
      empty: 'Nothing to repair.',
    })
  }
}
