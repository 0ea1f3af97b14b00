import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import type { OutputColumn } from '../cli/columns.js'
import { spaceFlag } from '../cli/common-flags.js'
import { checkEverySpace, summarizeSpaces } from '../cli/integrity/every-space.js'
import { confirm } from '../cli/prompt.js'
import { formatBytes } from '../cli/units.js'
import { EXIT } from '../contract/errors.js'
import type { GcCandidate, GcExecuted } from '../contract/gateway/integrity.js'
import { LIMITS } from '../contract/limits.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { pluralize } from '../lib/text/pluralize.js'

const TYPES = [
  'staged-object',
  'failed-commit',
  'artifact-segment',
  'parse-artifact',
  'index-projection',
  'answer-trace',
]

interface CandidateFilter {
  prefix?: string | undefined
  type?: string[] | undefined
}

const CANDIDATE_COLUMNS: OutputColumn[] = [
  { field: 'candidates', kind: 'count' },
  { field: 'bytes', title: 'SIZE', kind: 'bytes' },
]

const REMOVAL_COLUMNS: OutputColumn[] = [
  { field: 'removed', kind: 'count' },
  { field: 'needed', title: 'STILL NEEDED', kind: 'count' },
]

function sumBytes(candidates: readonly GcCandidate[]): number {
  return candidates.reduce((sum, { estimatedBytes }) => sum + estimatedBytes, 0)
}

export default class Gc extends BaseCommand {
  static override summary = 'list data that is no longer needed, or remove it'
  static override examples = [
    '<%= config.bin %> gc example-space',
    '<%= config.bin %> gc example-space --type staged-object --execute --yes',
    '<%= config.bin %> gc --all --execute --yes',
  ]
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    all: Flags.boolean({ description: 'every space that the token may see; a line for each' }),
    prefix: Flags.string({ helpValue: 'key', description: 'only objects whose key has this prefix' }),
    type: Flags.string({ options: TYPES, multiple: true, description: 'only candidates of this type' }),
    execute: Flags.boolean({ description: 'remove the candidates' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Gc)
    if (flags.all) {
      checkEverySpace(args.space ?? flags.space)
      return await this.collectEverywhere(flags)
    }
    const { id } = args.space === undefined ? await this.space() : await this.resolveSpace(args.space)
    const candidates = await this.listCandidates(id, flags)
    const description = `${pluralize(candidates.length, 'candidate')} of about ${formatBytes(sumBytes(candidates))}`
    if (!flags.execute) {
      await this.out.list(candidates, {
        columns: [
          { field: 'candidateType', title: 'TYPE' },
          { field: 'count', kind: 'count' },
          { field: 'estimatedBytes', title: 'SIZE', kind: 'bytes' },
          { field: 'reason' },
        ],
        empty: 'Nothing to collect.',
      })
      if (candidates.length > 0) this.out.note(`${description}; \`--execute\` removes them`)
      return
    }
    if (candidates.length > 0 && !(await confirm(`removing ${description}`, this.prompt))) {
      this.out.note('Nothing was removed.')
      return
    }
    await this.removeCandidates(id, candidates)
  }

  /** Lists or removes the candidates of every space. */
  private async collectEverywhere(flags: CandidateFilter & { execute: boolean }): Promise<void> {
    const session = { client: await this.client(), out: this.out }
    if (!flags.execute || !this.common.yes) {
      const listed = await summarizeSpaces(session, CANDIDATE_COLUMNS, async (id) => {
        const candidates = await this.listCandidates(id, flags)
        const bytes = sumBytes(candidates)
        const state = candidates.length === 0 ? 'ok' : 'collectable'
        return { line: { state, candidates: candidates.length, bytes }, exit: EXIT.ok }
      })
      const count = listed.lines.reduce((sum, { candidates }) => sum + candidates, 0)
      const size = listed.lines.reduce((sum, { bytes }) => sum + bytes, 0)
      const description = `${pluralize(count, 'candidate')} of about ${formatBytes(size)}`
      if (count > 0 && !flags.execute) this.out.note(`${description}; \`--execute\` removes them`)
      const isConfirmed = flags.execute && count > 0 && (await confirm(`removing ${description}`, this.prompt))
      if (!isConfirmed) {
        if (flags.execute) this.out.note('Nothing was removed.')
        if (listed.exit !== EXIT.ok) throw new ExitWith(listed.exit)
        return
      }
    }
    const removal = await summarizeSpaces(session, REMOVAL_COLUMNS, async (id) => {
      const items = await this.executeCandidates(id, await this.listCandidates(id, flags))
      const removed = items.filter(({ status }) => status === 'deleted').length
      return { line: { state: 'ok', removed, needed: items.length - removed }, exit: EXIT.ok }
    })
    if (removal.exit !== EXIT.ok) throw new ExitWith(removal.exit)
  }

  private async listCandidates(id: string, { prefix, type }: CandidateFilter): Promise<GcCandidate[]> {
    const client = await this.client()
    const allCandidates: GcCandidate[] = []
    let cursor: string | undefined
    do {
      const page = await client.request('GET /knowledge-spaces/{id}/gc/staged-objects', {
        path: { id },
        query: omitUndefined({ stagedObjectPrefix: prefix, cursor }),
      })
      allCandidates.push(...page.candidates)
      cursor = page.cursor
    } while (cursor !== undefined)
    return allCandidates.filter(({ candidateType }) => type?.includes(candidateType) ?? true)
  }

  private async executeCandidates(id: string, candidates: GcCandidate[]): Promise<GcExecuted['items']> {
    const client = await this.client()
    const items: GcExecuted['items'] = []
    for (let start = 0; start < candidates.length; start += LIMITS.gcCandidates) {
      const batch = candidates.slice(start, start + LIMITS.gcCandidates)
      const reply = await client.request('POST /knowledge-spaces/{id}/gc/staged-objects/execute', {
        path: { id },
        body: { candidates: batch },
      })
      items.push(...reply.items)
    }
    return items
  }

  private async removeCandidates(id: string, candidates: GcCandidate[]): Promise<void> {
    const items = await this.executeCandidates(id, candidates)
    await this.out.list(items, {
      columns: [{ field: 'status' }, { field: 'objectKey', title: 'TARGET' }],
      empty: 'Nothing to collect.',
    })
    const skipped = items.filter(({ status }) => status !== 'deleted').length
    if (items.length > 0) this.out.note(`${items.length - skipped} removed, ${skipped} still needed`)
  }
}
