import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith } from '../../cli/cli-error.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import { parseSpan } from '../../cli/units.js'
import { paginate } from '../../client/pages.js'

export default class FsGrep extends BaseCommand {
  static override isPaged = true
  static override summary = 'search text below a path; exits with 1 without a match, like grep'
  static override examples = [
    '<%= config.bin %> fs grep "retention policy" /knowledge --space example-space',
    '<%= config.bin %> fs grep "v[0-9]+" /sources --regex --space example-space',
  ]
  static override args = {
    pattern: Args.string({ required: true, description: 'text; case-sensitive only if it has a capital letter' }),
    path: Args.string({ required: true, description: 'path to search below' }),
  }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    regex: Flags.boolean({ description: 'treat the pattern as a regular expression' }),
    'time-limit': Flags.string({ helpValue: '2s', description: 'timeout for each page of the search' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FsGrep)
    const path = parseVirtualPath(args.path)
    const filter = {
      path,
      q: flags.regex ? `re:${args.pattern}` : args.pattern,
      ...(flags['time-limit'] === undefined ? {} : { timeoutMs: parseSpan(flags['time-limit'], '--time-limit') }),
    }
    const { id } = await this.space()
    const client = await this.client()
    let isIncomplete = false
    const matches = paginate(
      async (page) => {
        const query = { ...filter, ...page }
        const {
          matches: items,
          truncated,
          nextCursor,
        } = this.reportDegradation(await client.request('GET /knowledge-spaces/{id}/fs/grep', { path: { id }, query }))
        isIncomplete = truncated && nextCursor === undefined
        return { items, nextCursor }
      },
      { ...this.getListRange(flags), pageSize: 1000 },
    )
    const count = this.out.isJson ? await this.printItems(matches) : await this.printLines(matches)
    if (isIncomplete) this.out.note('The search timed out: there may be more.')
    if (count === 0) throw new ExitWith(1)
  }

  private async printItems(matches: AsyncGenerator<object, string | undefined>): Promise<number> {
    return await this.list(matches, {
      columns: [{ field: 'path' }, { field: 'startOffset' }, { field: 'snippet' }],
      fields: ['kind', 'endOffset', 'metadata', 'nodeId', 'segmentId'],
      empty: '',
    })
  }

  private async printLines(
    matches: AsyncGenerator<{ path: string; startOffset: number; snippet: string }, string | undefined>,
  ): Promise<number> {
    let count = 0
    for await (const match of this.withMoreHint(matches)) {
      count += 1
      this.out.line(`${match.path}:${match.startOffset}: ${match.snippet.replace(/\s+/g, ' ').trim()}`)
    }
    return count
  }
}
