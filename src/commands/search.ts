import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { docFlag, spaceFlag } from '../cli/common-flags.js'
import { documentFilter, filterFlags } from '../cli/query/document-filter.js'
import { FILE_COLUMNS, FOUND_COLUMNS, filesOf, foundRows } from '../cli/query/found.js'
import { resolveDocuments } from '../cli/resolve.js'
import { ttyLine } from '../cli/terminal.js'
import { textOfWords } from '../cli/words.js'
import { LIMITS } from '../contract/limits.js'
import { CONCRETE_MODES } from '../contract/values.js'
import { defined } from '../lib/defined.js'
import { searchedForText } from '../lib/text/searched-for.js'

export default class Search extends BaseCommand {
  static override pages = true
  static override summary = 'find passages without an answer'
  static override description =
    'Ranks passages like `query`, but generates no answer and stores neither a session nor a trace.'
  static override examples = [
    '<%= config.bin %> search on call in August --space example-space',
    '<%= config.bin %> search on call in August --space example-space -n 100 --files-with-matches',
  ]
  static override strict = false
  static override args = {
    text: Args.string({ required: true, description: 'search text, with or without quotes; - reads stdin' }),
  }
  static override flags = {
    ...spaceFlag,
    limit: Flags.integer({ char: 'n', min: 1, helpValue: 'n', description: 'maximum passages (default: 10)' }),
    mode: Flags.option({
      char: 'm',
      options: CONCRETE_MODES,
      description: "search mode (default: mode of the space)",
    })(),
    ...docFlag,
    ...filterFlags,
    'files-with-matches': Flags.boolean({ description: 'list each document with matching passages once' }),
  }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(Search)
    const query = await textOfWords(raw, 'the search text')
    if (query === '') throw usageError('the search text is empty')
    const { id } = await this.space()
    const client = await this.client()
    const mode = CONCRETE_MODES.find((known) => known === this.settings.mode?.value)
    const found = await client.request('POST /knowledge-spaces/{id}/queries/search', {
      path: { id },
      body: {
        query,
        ...defined({ mode, limit: flags.limit, filter: documentFilter(flags) }),
        ...(flags.doc === undefined
          ? {}
          : { activeDocumentIds: await resolveDocuments(client, id, flags.doc, this.dirs.cache) }),
      },
    })
    if (found.degradedReasons.length > 0)
      this.out.warn(`ks: a part of the space could not be searched: ${found.degradedReasons.join(', ')}`)
    if (found.searchedFor !== undefined) this.out.note(ttyLine(searchedForText(found.searchedFor)))
    const rows = foundRows(found.items, this.out.unicode)
    const empty = 'No passage was found.'
    if (flags['files-with-matches']) await this.out.list(filesOf(rows), { columns: FILE_COLUMNS, empty })
    else await this.out.list(rows, { columns: FOUND_COLUMNS, empty })
    if (flags.limit === undefined && rows.length >= LIMITS.searchResults.default)
      this.out.note(`showing the best ${rows.length}; \`-n\` shows more`)
  }
}
