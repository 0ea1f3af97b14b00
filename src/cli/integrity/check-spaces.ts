import type { Client } from '../../client/client.js'
import { EXIT } from '../../contract/errors.js'
import { pluralize } from '../../lib/text/pluralize.js'
import type { OutputColumn } from '../columns.js'
import type { Output } from '../output.js'
import { confirm, type PromptOptions } from '../prompt.js'
import { summarizeSpaces } from './every-space.js'
import { countIssues, type FsckSelection, runRepairs } from './issues.js'

interface CheckSession {
  client: Client
  out: Output
  prompt: PromptOptions
}

const CHECK_COLUMNS: OutputColumn[] = [
  { field: 'checked', kind: 'count' },
  { field: 'issues', kind: 'count' },
  { field: 'repairable', kind: 'count' },
]
const REPAIR_COLUMNS: OutputColumn[] = [
  { field: 'repairable', kind: 'count' },
  { field: 'repaired', kind: 'count' },
  { field: 'remaining', kind: 'count' },
]

/** Checks every space and prints a line for each. @returns the highest exit code */
export async function checkSpaces(
  { client, out }: CheckSession,
  { repairable, failOn, ...selection }: Omit<FsckSelection, 'id'> & { repairable: boolean; failOn: string },
): Promise<number> {
  const { lines, exit } = await summarizeSpaces({ client, out }, CHECK_COLUMNS, async (id) => {
    const counts = { scanned: 0, failing: 0, repairable: 0 }
    let issues = 0
    for await (const _ of countIssues(client, { id, ...selection }, { repairable, failOn }, counts)) issues += 1
    const state = issues === 0 ? 'ok' : 'issues'
    const line = { state, checked: counts.scanned, issues, repairable: counts.repairable }
    return { line, exit: counts.failing === 0 ? EXIT.ok : EXIT.checkFailed }
  })
  if (lines.some(({ issues }) => issues > 0)) out.note('hint: `ks fsck SPACE` lists the issues of a space')
  return exit
}

/** Repairs every space after one confirmation and prints a line for each. @returns the highest exit code */
export async function repairSpaces(
  { client, out, prompt }: CheckSession,
  selection: Omit<FsckSelection, 'id'>,
): Promise<number> {
  const run = (dryRun: boolean) =>
    summarizeSpaces({ client, out }, REPAIR_COLUMNS, async (id) => {
      const counts = { repairable: 0, repaired: 0, remaining: 0 }
      for await (const { status } of runRepairs(client, { id, ...selection, dryRun })) {
        if (status === 'would-repair') counts.repairable += 1
        else if (status === 'repaired') counts.repaired += 1
        else counts.remaining += 1
      }
      const isClean = counts.repairable + counts.remaining === 0
      return {
        line: { state: isClean ? 'ok' : 'issues', ...counts },
        exit: counts.remaining === 0 ? EXIT.ok : EXIT.checkFailed,
      }
    })
  if (!prompt.yes) {
    const { lines, exit } = await run(true)
    const repairable = lines.reduce((sum, line) => sum + line.repairable, 0)
    if (repairable === 0) return exit
    if (!(await confirm(`repairing ${pluralize(repairable, 'issue')}`, prompt))) {
      out.note('Nothing was repaired.')
      return EXIT.ok
    }
  }
  return (await run(false)).exit
}
