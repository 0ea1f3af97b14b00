import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { readArgumentText } from '../cli/argument-words.js'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import type { OutputColumn } from '../cli/columns.js'
import { docFlag, spacesFlags } from '../cli/common-flags.js'
import { filterFlags, toDocumentFilter } from '../cli/query/document-filter.js'
import { toDocumentScope, toQuestionSpaces } from '../cli/query/scope.js'
import { FILE_COLUMNS, groupByDocument, SEARCH_COLUMNS, SPACE_COLUMN, toSearchRows } from '../cli/query/search-rows.js'
import { listSpaceProblems, parseSearchedSpaces } from '../cli/query/searched-spaces.js'
import { ttyLine, ttyName } from '../cli/terminal.js'
import { LIMITS } from '../contract/limits.js'
import { CONCRETE_MODES } from '../contract/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { formatCorrections } from '../lib/text/format-corrections.js'
import { pluralize } from '../lib/text/pluralize.js'

export default class Search extends BaseCommand {
  static override isPaged = true
  static override summary = 'find passages without an answer'
  static override description =
    'Ranks passages like `query`, but generates no answer and stores neither a session nor a trace.'
  static override examples = [
    '<%= config.bin %> search on call in August --space example-space',
    '<%= config.bin %> search on call in August --all-spaces --doc "*.md"',
    '<%= config.bin %> search on call in August --space example-space -n 100 --files-with-matches',
  ]
  static override strict = false
  static override args = {
    text: Args.string({ required: true, description: 'search text, with or without quotes; - reads stdin' }),
  }
  static override flags = {
    ...spacesFlags,
    limit: Flags.integer({ char: 'n', min: 1, helpValue: 'n', description: 'maximum passages (default: 10)' }),
    mode: Flags.option({
      char: 'm',
      options: CONCRETE_MODES,
      description: 'search mode (default: mode of the space)',
    })(),
    ...docFlag,
    ...filterFlags,
    'files-with-matches': Flags.boolean({ description: 'list each document with matching passages once' }),
  }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(Search)
    const query = await readArgumentText(raw, 'the search text')
    if (query === '') throw usageError('the search text is empty')
    const selection = toQuestionSpaces(await this.spaces(flags))
    const client = await this.client()
    const mode = CONCRETE_MODES.find((candidate) => candidate === this.settings.mode?.value)
    const names = { names: flags.doc, filter: toDocumentFilter(flags) }
    const body = {
      query,
      ...omitUndefined({ mode, limit: flags.limit }),
      ...(await toDocumentScope(client, selection, names, this.dirs.cache)),
    }
    const isOne = 'knowledgeSpaceId' in selection
    const result = isOne
      ? await client.request('POST /knowledge-spaces/{id}/queries/search', {
          path: { id: selection.knowledgeSpaceId },
          body,
        })
      : await client.request('POST /queries/spaces/search', { body: { ...selection, ...body } })
    if (result.degradedReasons.length > 0)
      this.out.warn(ttyLine(`ks: not everything could be searched: ${result.degradedReasons.join('; ')}`))
    // Among all spaces, some are usually empty.
    for (const problem of flags['all-spaces'] ? [] : listSpaceProblems(parseSearchedSpaces({ ...result })))
      this.out.warn(ttyLine(`ks: ${problem}`))
    if (result.searchedFor !== undefined) this.out.note(ttyLine(formatCorrections(result.searchedFor)))
    const rows = toSearchRows(result.items, this.out)
    const empty = 'No passage was found.'
    const addSpace = (columns: OutputColumn[]) => (isOne ? columns : [SPACE_COLUMN, ...columns])
    if (flags['files-with-matches'])
      await this.out.list(groupByDocument(rows), { columns: addSpace(FILE_COLUMNS), empty })
    else await this.out.list(rows, { columns: addSpace(SEARCH_COLUMNS), empty })
    for (const { filename, copies = 0 } of rows)
      if (copies > 0)
        this.out.note(`the passage of ${ttyName(filename)} is also in ${pluralize(copies, 'other document')}`)
    if (flags.limit === undefined && rows.length >= LIMITS.searchResults.default)
      this.out.note(`showing the best ${rows.length}; \`-n\` shows more`)
  }
}
