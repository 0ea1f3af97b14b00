import { filterEach, readInput } from './inputs.js'
import { parseCount, parseOptions } from './options.js'
import { ShellError } from './parse.js'
import type { ProgramIo, ShellProgram } from './run.js'

/** Numbers of `cut -f` and `sed -n`: the first and last of a range. */
type LineRange = readonly [start: number, end: number]

async function* cat(args: string[], io: ProgramIo) {
  const { has, rest } = parseOptions('cat', args, { flags: 'n' })
  let number = 0
  return yield* filterEach('cat', io, rest, async function* (lines) {
    for await (const line of lines) {
      number += 1
      yield has('n') ? `${String(number).padStart(6)}\t${line}` : line
    }
  })
}

async function* head(args: string[], io: ProgramIo) {
  const { rest, value } = parseOptions('head', normalizeCount(args), { flags: 'q', values: 'n' })
  const count = parseCount('head', value('n') ?? '10')
  return yield* filterEach('head', io, rest, async function* (lines, path) {
    if (rest.length > 1) yield `==> ${path} <==`
    if (count === 0) return
    let printed = 0
    for await (const line of lines) {
      yield line
      printed += 1
      if (printed === count) return
    }
  })
}

async function* tail(args: string[], io: ProgramIo) {
  const { rest, value } = parseOptions('tail', normalizeCount(args), { flags: 'q', values: 'n' })
  const text = value('n') ?? '10'
  const count = parseCount('tail', text.replace(/^[+-]/, ''))
  return yield* filterEach('tail', io, rest, async function* (lines, path) {
    if (rest.length > 1) yield `==> ${path} <==`
    let number = 0
    const last: string[] = []
    for await (const line of lines) {
      number += 1
      if (!text.startsWith('+')) {
        last.push(line)
        if (last.length > count) last.shift()
      } else if (number >= count) yield line
    }
    yield* last
  })
}

/** Converts `-20` to `-n20`. */
function normalizeCount(args: readonly string[]): string[] {
  return args.map((arg) => arg.replace(/^-(\d+)$/, '-n$1'))
}

async function* wc(args: string[], io: ProgramIo) {
  const { has, rest } = parseOptions('wc', args, { flags: 'lwcm' })
  const letters = [...'lwmc'].filter(has)
  const shown = letters.length === 0 ? [...'lwc'] : letters
  const totals: Record<string, number> = { l: 0, w: 0, m: 0, c: 0 }
  const format = (counts: Record<string, number>, name: string | undefined) =>
    [...shown.map((letter) => counts[letter]), ...(name === undefined ? [] : [name])].join(' ')
  const status = yield* filterEach('wc', io, rest, async function* (lines, path) {
    const counts: Record<string, number> = { l: 0, w: 0, m: 0, c: 0 }
    for await (const line of lines) {
      const sizes = { l: 1, w: line.match(/\S+/g)?.length ?? 0, m: line.length + 1, c: Buffer.byteLength(line) + 1 }
      for (const [letter, size] of Object.entries(sizes)) {
        counts[letter] = (counts[letter] ?? 0) + size
        totals[letter] = (totals[letter] ?? 0) + size
      }
    }
    yield format(counts, path)
  })
  if (rest.length > 1) yield format(totals, 'total')
  return status
}

async function* sort(args: string[], io: ProgramIo) {
  const { has, rest, value } = parseOptions('sort', args, { flags: 'nruf', values: 'kt' })
  const field = value('k') === undefined ? undefined : parseCount('sort', value('k')?.replace(/,.*$/, '') ?? '', 1)
  const keyOf = (line: string) => {
    const separator = value('t')
    const key = field === undefined ? line : (line.trimStart().split(separator ?? /\s+/)[field - 1] ?? '')
    return has('f') ? key.toLowerCase() : key
  }
  const keyed: { line: string; key: string; number: number }[] = []
  for await (const line of readInput('sort', io, rest)) {
    const key = keyOf(line)
    keyed.push({ line, key, number: has('n') ? Number.parseFloat(key) || 0 : 0 })
  }
  const direction = has('r') ? -1 : 1
  keyed.sort((a, b) => direction * (a.number - b.number || compareText(a.key, b.key) || compareText(a.line, b.line)))
  let previous: (typeof keyed)[number] | undefined
  for (const entry of keyed) {
    const isRepeated =
      previous !== undefined && (has('n') ? previous.number === entry.number : previous.key === entry.key)
    if (!has('u') || !isRepeated) yield entry.line
    previous = entry
  }
  return 0
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

async function* uniq(args: string[], io: ProgramIo) {
  const { has, rest } = parseOptions('uniq', args, { flags: 'cdui' })
  let current: string | undefined
  let count = 0
  function* flush() {
    if (current === undefined || (has('d') && count === 1) || (has('u') && count > 1)) return
    yield has('c') ? `${String(count).padStart(7)} ${current}` : current
  }
  const keyOf = (line: string | undefined) => (has('i') ? line?.toLowerCase() : line)
  for await (const line of readInput('uniq', io, rest)) {
    if (keyOf(line) !== keyOf(current)) {
      yield* flush()
      current = line
      count = 0
    }
    count += 1
  }
  yield* flush()
  return 0
}

async function* cut(args: string[], io: ProgramIo) {
  const { rest, value, has } = parseOptions('cut', args, { flags: 's', values: 'dfc' })
  const list = value('f') ?? value('c')
  if (list === undefined) throw new ShellError('cut: give fields with -f or characters with -c')
  const ranges = list.split(',').map((text) => parseRange('cut', text, '-'))
  const isSelected = (_: string, index: number) => ranges.some(([start, end]) => start <= index + 1 && index < end)
  const delimiter = value('d') ?? '\t'
  for await (const line of readInput('cut', io, rest)) {
    if (value('f') === undefined) yield [...line].filter(isSelected).join('')
    else if (line.includes(delimiter)) yield line.split(delimiter).filter(isSelected).join(delimiter)
    else if (!has('s')) yield line
  }
  return 0
}

/** Parses `3`, `3-5`, `3-` or `-5`; `sed` writes a comma and `$`. */
function parseRange(command: string, text: string, separator: string): LineRange {
  const [first = '', last] = text.split(separator)
  const start = first === '' ? 1 : parseCount(command, first, 1)
  if (last === undefined) return [start, start]
  return [start, last === '' || last === '$' ? Number.POSITIVE_INFINITY : parseCount(command, last, 1)]
}

async function* sed(args: string[], io: ProgramIo) {
  const { has, rest } = parseOptions('sed', args, { flags: 'n' })
  const [script = '', ...paths] = rest
  const parts = script.split(';').map((part) => /^\s*(\d+(?:,(?:\d+|\$))?)\s*p\s*$/.exec(part)?.[1])
  if (!has('n') || parts.includes(undefined))
    throw new ShellError(`sed: ${JSON.stringify(script)} is not available; only \`sed -n '10,20p'\` is`)
  const ranges = parts.map((part = '') => parseRange('sed', part, ','))
  const lastLine = Math.max(...ranges.map(([, end]) => end))
  let number = 0
  for await (const line of readInput('sed', io, paths)) {
    number += 1
    for (const [start, end] of ranges) if (start <= number && number <= end) yield line
    if (number >= lastLine) break
  }
  return 0
}

/** Each line is one argument: paths may have spaces. */
async function* xargs(args: string[], io: ProgramIo) {
  const end = args.findIndex((arg, index) => !arg.startsWith('-') && !/^-[nI]$/.test(args[index - 1] ?? ''))
  const own = end === -1 ? args : args.slice(0, end)
  const [name = 'echo', ...first] = end === -1 ? [] : args.slice(end)
  const { value } = parseOptions('xargs', own, { flags: 'r', values: 'nI' })
  const placeholder = value('I')
  const size = placeholder === undefined ? parseCount('xargs', value('n') ?? '1000', 1) : 1
  let status = 0
  async function* runBatch(batch: string[]) {
    const words =
      placeholder === undefined
        ? [...first, ...batch]
        : first.map((word) => word.replaceAll(placeholder, batch[0] ?? ''))
    if ((yield* io.shell.runProgram(name, words, { ...io, input: undefined })) !== 0) status = 123
  }
  const batch: string[] = []
  for await (const line of readInput('xargs', io, [])) {
    batch.push(line)
    if (batch.length === size) yield* runBatch(batch.splice(0))
  }
  if (batch.length > 0) yield* runBatch(batch)
  return status
}

async function* echo(args: string[]) {
  yield args.join(' ')
  return 0
}

async function* succeed(): AsyncGenerator<string, number> {
  yield* []
  return 0
}

/** Commands that read and change lines. */
export const TEXT_PROGRAMS: Readonly<Record<string, ShellProgram>> = {
  cat,
  head,
  tail,
  wc,
  sort,
  uniq,
  cut,
  sed,
  xargs,
  echo,
  true: succeed,
}
