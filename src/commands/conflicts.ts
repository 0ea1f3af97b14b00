import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { listFlags, spaceFlag, waitFlag } from '../cli/common-flags.js'
import { CONFLICT_COLUMNS, formatConflict } from '../cli/conflicts-view.js'
import { resolveDocument } from '../cli/resolve.js'
import { poll } from '../cli/wait.js'
import type { Client } from '../client/client.js'
import { paginate } from '../client/pages.js'
import type { SpaceConflict } from '../contract/gateway/conflicts.js'
import { CONFLICT_KINDS } from '../contract/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { pluralize } from '../lib/text/pluralize.js'

const ROUTE = 'GET /knowledge-spaces/{id}/conflicts'
const EMPTY = 'No contradictions between documents were found.'

export default class Conflicts extends BaseCommand {
  static override isPaged = true
  static override summary = 'list contradictions between documents of a space, newest first'
  static override description =
    'Contradictions are detected in the background after each publication. While documents are not compared yet, stderr shows their count.'
  static override examples = [
    '<%= config.bin %> conflicts --space example-space',
    '<%= config.bin %> conflicts --space example-space --wait --json',
  ]
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    kind: Flags.option({ options: CONFLICT_KINDS, description: 'only conflicts of this kind' })(),
    doc: Flags.string({ helpValue: 'path|id', description: 'only conflicts that involve this document' }),
    differences: Flags.boolean({
      description: 'include differences that are no contradiction: another time, version, location or subject',
    }),
    ...waitFlag('wait until all documents are compared'),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Conflicts)
    const { id } = await this.space()
    const client = await this.client()
    if (flags.wait) await this.waitUntilCompared(client, id)
    const filter = {
      ...omitUndefined({ kind: flags.kind }),
      ...(flags.doc === undefined ? {} : { documentId: await resolveDocument(client, id, flags.doc, this.dirs.cache) }),
      ...(flags.differences ? { includeDifferences: 'true' as const } : {}),
    }
    const items = paginate(
      async (page) =>
        this.reportDegradation(await client.request(ROUTE, { path: { id }, query: { ...filter, ...page } })),
      { ...this.getListRange(flags), pageSize: 100 },
    )
    if (this.out.format === 'table' && flags.fields === undefined) await this.printConflicts(this.withMoreHint(items))
    else await this.list(items, { columns: CONFLICT_COLUMNS, empty: EMPTY })
  }

  private async printConflicts(conflicts: AsyncGenerator<SpaceConflict>): Promise<void> {
    const marks = { unicode: this.out.unicode, paint: this.out.paint.bind(this.out) }
    let count = 0
    for await (const conflict of conflicts) {
      if (count > 0) this.out.styled()
      for (const line of formatConflict(conflict, marks)) this.out.styled(line)
      count++
    }
    if (count === 0) this.out.note(EMPTY)
  }

  private async waitUntilCompared(client: Client, id: string): Promise<void> {
    let hasNoted = false
    await poll(async () => {
      const { pendingDocuments } = await client.request(ROUTE, { path: { id }, query: { limit: 1 } })
      if (pendingDocuments === 0) return true
      if (!hasNoted) this.out.note(`${pluralize(pendingDocuments, 'document')} still to be compared`)
      hasNoted = true
      return undefined
    })
  }
}
