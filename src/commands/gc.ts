import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { spaceFlag } from '../cli/common-flags.js'
import { confirm } from '../cli/prompt.js'
import { formatBytes } from '../cli/units.js'
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

export default class Gc extends BaseCommand {
  static override summary = 'list data that is no longer needed, or remove it'
  static override examples = [
    '<%= config.bin %> gc example-space',
    '<%= config.bin %> gc example-space --type staged-object --execute --yes',
  ]
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    prefix: Flags.string({ helpValue: 'key', description: 'only objects whose key has this prefix' }),
    type: Flags.string({ options: TYPES, multiple: true, description: 'only candidates of this type' }),
    execute: Flags.boolean({ description: 'remove the candidates' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Gc)
    const { id } = args.space === undefined ? await this.space() : await this.resolveSpace(args.space)
    const allCandidates = await this.listCandidates(id, flags.prefix)
    const candidates = allCandidates.filter(({ candidateType }) => flags.type?.includes(candidateType) ?? true)
    const size = candidates.reduce((sum, { estimatedBytes }) => sum + estimatedBytes, 0)
    const description = `${pluralize(candidates.length, 'candidate')} of about ${formatBytes(size)}`
    if (!flags.execute) {
      await this.out.list(candidates, {
        columns: [
          { field: 'candidateType', title: 'TYPE' },
          { field: 'count', kind: 'count' },
          { field: 'estimatedBytes', title: 'SIZE', kind: 'bytes' },
          { field: 'reason' },
        ],
        fields: ['idempotencyKey', 'target.type', 'target.id', 'target.objectKey', 'target.documentAssetId'],
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

  private async listCandidates(id: string, prefix: string | undefined): Promise<GcCandidate[]> {
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
    return allCandidates
  }

  private async removeCandidates(id: string, candidates: GcCandidate[]): Promise<void> {
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
    await this.out.list(items, {
      columns: [{ field: 'status' }, { field: 'objectKey', title: 'TARGET' }],
      fields: ['idempotencyKey'],
      empty: 'Nothing to collect.',
    })
    const skipped = items.filter(({ status }) => status !== 'deleted').length
    if (items.length > 0) this.out.note(`${items.length - skipped} removed, ${skipped} still needed`)
  }
}
