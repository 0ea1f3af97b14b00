import { findWholeWords, toWholeWordExpression } from '../../../lib/text/whole-word.js'
import { DOCUMENTS_PATH, ROOT_PATH, resolveVirtualPath } from '../../fs-path.js'
import { formatGrepLines, type GrepStyle } from '../grep-format.js'
import { type GrepLine, type GrepOptions, joinContext, searchPaths, toExpression } from '../grep-search.js'
import { parseCount, parseOptions } from './options.js'
import { ShellError } from './parse.js'
import type { Lines, ProgramIo, ShellProgram } from './run.js'

const LONG_OPTIONS = {
  include: 'g',
  glob: 'g',
  'ignore-case': 'i',
  count: 'c',
  'files-with-matches': 'l',
  'line-number': 'n',
  'word-regexp': 'w',
  'fixed-strings': 'F',
  'extended-regexp': 'E',
  'invert-match': 'v',
  'only-matching': 'o',
  'max-count': 'm',
  regexp: 'e',
}

/** `grep` searches lines of the command before, else files and folders; its patterns are basic ones without `-E`. */
const grep: ShellProgram = (args, io) => runGrep('grep', args, io)
/** `rg` prints line numbers and takes extended patterns. */
const rg: ShellProgram = (args, io) => runGrep('rg', args, io)

async function* runGrep(command: 'grep' | 'rg', args: string[], io: ProgramIo): AsyncGenerator<string, number> {
  const { has, value, values, rest } = parseOptions(command, args, {
    flags: 'rRnlicvwFEohHqs',
    values: 'ABCemg',
    long: LONG_OPTIONS,
  })
  const patterns = has('e') ? values('e') : rest.splice(0, 1)
  if (patterns.length === 0) throw new ShellError(`${command}: give a pattern`)
  const numberOf = (letter: string) => parseCount(command, value(letter) ?? value('C') ?? '0')
  const isBasic = command === 'grep' && !has('E') && !has('F')
  const options: GrepOptions = {
    patterns: isBasic ? patterns.map(toExtendedPattern) : patterns,
    isFixed: has('F'),
    ignoreCase: has('i'),
    wholeWords: has('w'),
    isInverted: has('v'),
    before: numberOf('B'),
    after: numberOf('A'),
    maxCount: value('m') === undefined ? undefined : parseCount(command, value('m') ?? '', 1),
    globs: values('g'),
  }
  const isPiped = rest.length === 0 && io.input !== undefined
  const paths = await expandPaths(io, rest)
  const isOneText =
    isPiped || (paths.length === 1 && (await io.shell.reader.findItem(paths[0] ?? ''))?.kind === 'resource')
  const style: GrepStyle = {
    heading: false,
    withPath: has('H') || !(isOneText || has('h')),
    withLine: has('n') || command === 'rg',
    withColumn: false,
    onlyMatches: has('o'),
    paint: (_, text) => text,
    escapeText: (text) => text,
  }
  const lines =
    isPiped && io.input !== undefined
      ? searchInput(io.input, options)
      : joinContext(searchPaths(io.shell.reader, paths, options))
  if (has('q')) return (await hasMatch(lines)) ? 0 : 1
  if (has('c') || has('l')) return yield* printCounts(lines, { isCount: has('c'), withPath: style.withPath })
  let count = 0
  for await (const line of formatGrepLines(lines, style)) {
    yield line
    count += 1
  }
  return count > 0 ? 0 : 1
}

async function expandPaths(io: ProgramIo, texts: readonly string[]): Promise<string[]> {
  const paths: string[] = []
  const fallback = io.shell.folder === ROOT_PATH ? DOCUMENTS_PATH : '.'
  for (const text of texts.length === 0 ? [fallback] : texts)
    paths.push(...(await io.shell.reader.expand(resolveVirtualPath(text, io.shell.folder))))
  return paths
}

async function hasMatch(lines: AsyncIterable<GrepLine | 'gap'>): Promise<boolean> {
  for await (const line of lines) if (line !== 'gap') return true
  return false
}

async function* printCounts(
  lines: AsyncIterable<GrepLine | 'gap'>,
  { isCount, withPath }: { isCount: boolean; withPath: boolean },
): AsyncGenerator<string, number> {
  const counts = new Map<string, number>()
  for await (const line of lines)
    if (line !== 'gap' && line.isMatch) counts.set(line.path, (counts.get(line.path) ?? 0) + 1)
  for (const [path, count] of counts) yield !isCount ? path : withPath ? `${path}:${count}` : String(count)
  if (counts.size === 0 && isCount && !withPath) yield '0'
  return counts.size > 0 ? 0 : 1
}

/** Converts a basic pattern, in which `\|`, `\(` and `\+` are operators and `|`, `(` and `+` are not. */
function toExtendedPattern(pattern: string): string {
  return pattern.replace(/\\.|[|(){}+?]/gs, (mark) => {
    if (mark.length === 1) return `\\${mark}`
    return /[|(){}+?]/.test(mark) ? mark.slice(1) : mark
  })
}

/** Searches lines here, with an expression that takes linear time. */
async function* searchInput(lines: Lines, options: GrepOptions): AsyncGenerator<GrepLine | 'gap'> {
  const { RE2JS, RE2JSException } = await import('re2js')
  const expression = toExpression(options)
  const compile = () => {
    try {
      const valid = RE2JS.compile(expression)
      return options.wholeWords ? RE2JS.compile(toWholeWordExpression(expression)) : valid
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error
      throw new ShellError(`the pattern must be an expression of the RE2 syntax: ${error.message}`)
    }
  }
  const compiled = compile()
  const find = (line: string) => {
    if (options.wholeWords) return [...findWholeWords(compiled.matcher(line), line.length)]
    const spans: { start: number; end: number }[] = []
    const matcher = compiled.matcher(line)
    while (matcher.find()) spans.push({ start: matcher.start(), end: matcher.end() })
    return spans
  }
  yield* selectLines(lines, find, options)
}

/** Selected lines with those around them. */
async function* selectLines(
  lines: Lines,
  find: (line: string) => { start: number; end: number }[],
  { isInverted, before, after, maxCount }: GrepOptions,
): AsyncGenerator<GrepLine | 'gap'> {
  const recent: string[] = []
  const toLine = (text: string, line: number): GrepLine => ({
    isMatch: false,
    path: '',
    line,
    column: 1,
    text,
    spans: [],
  })
  let number = 0
  let printed = 0
  let remaining = 0
  let count = 0
  for await (const text of lines) {
    number += 1
    const matches = count === maxCount ? [] : find(text)
    if (count !== maxCount && matches.length > 0 !== isInverted) {
      if (printed > 0 && before + after > 0 && number - recent.length > printed + 1) yield 'gap'
      for (const [index, line] of recent.entries()) yield toLine(line, number - recent.length + index)
      recent.length = 0
      const spans = matches.filter(({ start, end }) => end > start)
      yield { isMatch: true, path: '', line: number, column: (spans[0]?.start ?? 0) + 1, text, spans }
      printed = number
      remaining = after
      count += 1
    } else if (remaining > 0) {
      yield toLine(text, number)
      printed = number
      remaining -= 1
    } else if (before > 0) {
      recent.push(text)
      if (recent.length > before) recent.shift()
    }
    if (count === maxCount && remaining === 0) return
  }
}

export const GREP_PROGRAMS: Readonly<Record<string, ShellProgram>> = { grep, rg }
