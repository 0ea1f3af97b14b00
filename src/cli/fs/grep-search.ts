import { ApiError } from '../../client/errors.js'
import { usageError } from '../cli-error.js'
import {
  type FsGrepFilter,
  type FsGrepMatch,
  type FsItems,
  type FsRange,
  type FsReader,
  listAcross,
  selectItems,
} from './reader.js'
import { compileWildcards, quoteExpression } from './wildcards.js'

/** What to search for and which lines to return. */
export interface GrepOptions {
  patterns: readonly string[]
  isFixed: boolean
  ignoreCase: boolean
  wholeWords: boolean
  isInverted: boolean
  before: number
  after: number
  /** maximum number of lines of each text */
  maxCount?: number | undefined
  /** globs of paths; `!` at the start excludes */
  globs: readonly string[]
  timeoutMs?: number | undefined
}

/** A printed line of a search: one with matches, or one around it. */
export interface GrepLine {
  isMatch: boolean
  path: string
  line: number
  column: number
  text: string
  /** ranges of the matches in `text` */
  spans: readonly { start: number; end: number }[]
}

/** The expression of the RE2 syntax that any of the patterns matches. */
export function toExpression({ patterns, isFixed, ignoreCase }: GrepOptions): string {
  const expressions = patterns
    .flatMap((text) => text.split('\n'))
    .map((text) => (isFixed ? quoteExpression(text) : text))
  const [first = ''] = expressions
  const expression =
    expressions.length === 1 && first !== '' ? first : expressions.map((text) => `(?:${text})`).join('|')
  return `${ignoreCase ? '(?i)' : ''}${expression}`
}

/**
 * Lines with a match below paths, each as an entry of the API.
 *
 * @throws CliError exit 2 for a malformed pattern or glob
 */
export async function* searchPaths(
  reader: FsReader,
  paths: readonly string[],
  options: GrepOptions,
  range: FsRange = {},
): FsItems<FsGrepMatch> {
  const isSelected = await compileGlobs(options.globs)
  const filter = toFilter(options)
  const search = (all: FsRange) => listAcross(paths, all, (path, rest) => reader.grep(path, filter, rest))
  try {
    if (options.globs.length === 0) return yield* search(range)
    return yield* selectItems(search, range, ({ path }) => isSelected(path))
  } catch (error) {
    throw rewordPatternError(error)
  }
}

function toFilter(options: GrepOptions): FsGrepFilter {
  const { before, after, maxCount, timeoutMs } = options
  return {
    q: `re:${toExpression(options)}`,
    by: 'line',
    ...(options.isInverted ? { inverted: 'true' } : {}),
    ...(options.wholeWords ? { wholeWords: 'true' } : {}),
    ...(before > 0 ? { before } : {}),
    ...(after > 0 ? { after } : {}),
    ...(maxCount === undefined ? {} : { linesPerText: maxCount }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
}

/** The error of the service for the expression, in the words of the command line. */
function rewordPatternError(error: unknown): unknown {
  const [, reason] =
    (error instanceof ApiError && /^q (?:is not|must be) (an expression of .*)$/s.exec(error.message)) || []
  if (reason === undefined) return error
  const shown = reason.replace('error parsing regexp: ', '').replace(/: `.*`$/s, '')
  return usageError(`the pattern must be ${shown}`, '`-F` searches for the pattern as plain text')
}

/** As in `rg`: the last glob that matches decides; without one, a path is selected if all globs exclude. */
async function compileGlobs(globs: readonly string[]): Promise<(path: string) => boolean> {
  const rules = await Promise.all(
    globs.map(async (glob) => {
      const isExcluded = glob.startsWith('!')
      const pattern = isExcluded ? glob.slice(1) : glob
      const anchored = pattern.startsWith('/') ? pattern : `/**/${pattern.replace(/\/$/, '/**')}`
      return { isExcluded, matches: await compileWildcards(anchored) }
    }),
  )
  const isDefault = rules.every(({ isExcluded }) => isExcluded)
  return (path) => {
    const rule = rules.findLast(({ matches }) => matches(path))
    return rule === undefined ? isDefault : !rule.isExcluded
  }
}

/** The lines of matches with those around them, each once; `gap` where lines of a text are left out. */
export async function* joinContext(matches: AsyncIterable<FsGrepMatch>): AsyncGenerator<GrepLine | 'gap'> {
  let path: string | undefined
  let last = 0
  let pending: string[] = []
  for await (const match of matches) {
    const { line = 1, column = 1, text = match.snippet, spans = [], before = [], after = [] } = match
    // Passages of a document without a path of their own have the path of the document.
    const isNewText = match.path !== path || line <= last
    if (isNewText) {
      yield* toContext(path ?? '', last, pending)
      last = 0
    } else {
      const shown = pending.slice(0, line - last - 1)
      yield* toContext(match.path, last, shown)
      last += shown.length
    }
    const leading = before.slice(Math.max(0, before.length - (line - last - 1)))
    const first = line - leading.length
    const hasContext = before.length + after.length + pending.length > 0
    if (hasContext && (isNewText ? path !== undefined : first > last + 1)) yield 'gap'
    yield* toContext(match.path, first - 1, leading)
    yield { isMatch: true, path: match.path, line, column, text, spans }
    path = match.path
    last = line
    pending = after
  }
  yield* toContext(path ?? '', last, pending)
}

function* toContext(path: string, last: number, lines: readonly string[]): Generator<GrepLine> {
  for (const [index, text] of lines.entries())
    yield { isMatch: false, path, line: last + index + 1, column: 1, text, spans: [] }
}
