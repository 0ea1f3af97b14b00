import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { ExitWith, usageError } from '../../cli/cli-error.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { FsCommand } from '../../cli/fs/fs-command.js'
import { formatGrepLines } from '../../cli/fs/grep-format.js'
import { type GrepOptions, joinContext, searchPaths } from '../../cli/fs/grep-search.js'
import type { FsGrepMatch } from '../../cli/fs/reader.js'
import { DOCUMENTS_PATH } from '../../cli/fs-path.js'
import { tty } from '../../cli/terminal.js'
import { parseSpan } from '../../cli/units.js'
import { reportMore } from '../../client/pages.js'
import { LIMITS } from '../../contract/limits.js'

const contextFlag = { min: 0, max: LIMITS.grepContextLines, helpValue: 'n' }

export default class FsGrep extends FsCommand {
  static override isPaged = true
  static override summary = 'search the text of documents line by line, like rg; exits with 1 without a match'
  static override description =
    'The pattern is a regular expression (RE2 syntax), case-sensitive. Without a path, documents are searched. Columns count UTF-16 units from 1. `ks fs sh` combines `grep` with other commands.'
  static override examples = [
    '<%= config.bin %> fs grep "retention policy" --space example-space',
    '<%= config.bin %> fs grep -i -C 2 "v[0-9]+" /sources --glob "*.md" --space example-space',
    '<%= config.bin %> fs grep -l -F "v1." /knowledge /workspaces --space example-space',
  ]
  static override strict = false
  static override args = {
    pattern: Args.string({ description: 'regular expression; omitted with `-e`' }),
    path: Args.string({ description: 'paths, which may have wildcards (default /sources)' }),
  }
  static override flags = {
    ...spaceFlag,
    // without `-n`, which prints line numbers
    limit: Flags.integer({ min: 1, helpValue: 'n', description: 'maximum number of lines in all' }),
    cursor: listFlags.cursor,
    verbose: Flags.boolean({ helpGroup: 'COMMON', description: 'print the service and space in use on stderr' }),
    regexp: Flags.string({
      char: 'e',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'pattern',
      description: 'a pattern; repeatable, then all arguments are paths',
    }),
    'fixed-strings': Flags.boolean({ char: 'F', description: 'search for the pattern as plain text' }),
    'ignore-case': Flags.boolean({ char: 'i', description: 'ignore case' }),
    'smart-case': Flags.boolean({ char: 'S', description: 'ignore case if the pattern has no capital letter' }),
    'word-regexp': Flags.boolean({ char: 'w', description: 'match whole words only' }),
    'invert-match': Flags.boolean({ char: 'v', description: 'print lines without a match' }),
    'line-number': Flags.boolean({
      char: 'n',
      allowNo: true,
      default: true,
      description: 'print line numbers (default)',
    }),
    column: Flags.boolean({ allowNo: true, description: 'print the column of the first match (default)' }),
    heading: Flags.boolean({ allowNo: true, description: 'print each path once (default at a terminal)' }),
    'only-matching': Flags.boolean({ char: 'o', description: 'print each match alone' }),
    'files-with-matches': Flags.boolean({ char: 'l', description: 'print only paths', exclusive: ['count'] }),
    count: Flags.boolean({ char: 'c', description: 'print the number of matching lines of each path' }),
    'max-count': Flags.integer({ char: 'm', min: 1, helpValue: 'n', description: 'maximum lines of each file' }),
    'after-context': Flags.integer({ char: 'A', ...contextFlag, description: 'lines to print after each match' }),
    'before-context': Flags.integer({ char: 'B', ...contextFlag, description: 'lines to print before each match' }),
    'around-context': Flags.integer({ char: 'C', ...contextFlag, description: 'lines to print around each match' }),
    glob: Flags.string({
      char: 'g',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'pattern',
      description: 'only paths that match, such as "*.md"; "!drafts/**" excludes',
    }),
    'time-limit': Flags.string({ helpValue: '2s', description: 'timeout for each page of the search' }),
  }
  async run(): Promise<void> {
    const { argv, flags } = await this.parse(FsGrep)
    const words = argv.map(String)
    const patterns = flags.regexp ?? words.splice(0, 1)
    if (patterns.length === 0) throw usageError('`ks fs grep` needs PATTERN', '`ks fs grep --help`')
    const around = flags['around-context'] ?? 0
    const isCounted = flags.count || flags['files-with-matches']
    const options: GrepOptions = {
      patterns,
      isFixed: flags['fixed-strings'],
      ignoreCase: flags['ignore-case'] || (flags['smart-case'] && !patterns.some((pattern) => /\p{Lu}/u.test(pattern))),
      wholeWords: flags['word-regexp'],
      isInverted: flags['invert-match'],
      before: isCounted ? 0 : (flags['before-context'] ?? around),
      after: isCounted ? 0 : (flags['after-context'] ?? around),
      maxCount: flags['files-with-matches'] ? 1 : flags['max-count'],
      globs: flags.glob ?? [],
      timeoutMs: flags['time-limit'] === undefined ? undefined : parseSpan(flags['time-limit'], '--time-limit'),
    }
    const paths = await this.expandPaths(words.length === 0 ? [DOCUMENTS_PATH] : words)
    const reader = await this.reader()
    const found = searchPaths(reader, paths, options, { limit: flags.limit, cursor: flags.cursor })
    const matches = reportMore(found, (cursor) =>
      this.out.note(`more: omit \`--limit\`${cursor === '' ? '' : `, or add \`--cursor ${cursor}\``}`),
    )
    const count = isCounted ? await this.printCounts(matches, flags) : await this.printMatches(matches, flags)
    if (count === 0) throw new ExitWith(1)
  }

  private async printMatches(
    matches: AsyncIterable<FsGrepMatch>,
    flags: {
      heading: boolean | undefined
      'line-number': boolean
      column: boolean | undefined
      'only-matching': boolean
    },
  ): Promise<number> {
    if (this.out.isJson || this.common.output.fields !== undefined)
      return await this.out.list(matches, {
        columns: [{ field: 'path' }, { field: 'line' }, { field: 'column' }, { field: 'text' }],
        empty: '',
      })
    const { isTerminal } = this.out
    const lines = formatGrepLines(joinContext(matches), {
      heading: flags.heading ?? isTerminal,
      withPath: true,
      withLine: flags['line-number'],
      withColumn: flags.column ?? flags['line-number'],
      onlyMatches: flags['only-matching'],
      paint: (colour, text) => this.out.paint(colour, text),
      escapeText: isTerminal ? tty : (text) => text,
    })
    let count = 0
    for await (const line of lines) {
      this.out.raw(`${line}\n`)
      count += 1
    }
    return count
  }

  /** Prints each path, with the number of its lines if `flags.count`. */
  private async printCounts(matches: AsyncIterable<FsGrepMatch>, flags: { count: boolean }): Promise<number> {
    const counts = new Map<string, number>()
    for await (const { path } of matches) counts.set(path, (counts.get(path) ?? 0) + 1)
    if (this.out.isJson) {
      const items = [...counts].map(([path, count]) => (flags.count ? { path, count } : { path }))
      return await this.out.list(items, { columns: [{ field: 'path' }, { field: 'count' }], empty: '' })
    }
    for (const [path, count] of counts)
      this.out.raw(
        `${this.out.paint('magenta', this.out.isTerminal ? tty(path) : path)}${flags.count ? `:${count}` : ''}\n`,
      )
    return counts.size
  }
}
