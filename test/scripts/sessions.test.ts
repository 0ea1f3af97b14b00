import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

/**
 * Sessions at a terminal, as text: `$ ks …` lines with what must appear below them. The real program, a real daemon, a
 * user of their own.
 *
 *     # a remark, also the name of the test when it is the first line
 *     > path             the lines up to the next blank one become a file
 *     $ ks …             one command; `< path` feeds it a file
 *     text               stdout, line by line; `…` stands for anything, `[uuid]`, `[id]`, `[time]`, `[ms]` for one of those
 *     .                  an empty line; spaces and tabs at the end of a line do not count
 *     ! text             a line of stderr; stderr is looked at only when at least one is given
 *     [exit N]           the exit code, 0 when absent
 */

const FOLDER = dirname(fileURLToPath(import.meta.url))

interface Step {
  line: number
  words: string[]
  stdin: string | undefined
  stdout: string[]
  stderr: string[]
  code: number
}

interface Session {
  name: string
  files: { path: string; content: string }[]
  steps: Step[]
}

function parse(text: string): Session {
  const session: Session = { name: '', files: [], steps: [] }
  let file: { path: string; content: string } | undefined
  let step: Step | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const code = /^\[exit (\d+)\]$/.exec(line)?.[1]
    if (file !== undefined) {
      if (line === '') file = undefined
      else file.content += `${line}\n`
    } else if (line.startsWith('# ')) session.name ||= line.slice(2)
    else if (line.startsWith('> ')) {
      file = { path: line.slice(2), content: '' }
      session.files.push(file)
    } else if (line.startsWith('$ ks')) {
      const words = shellWords(line.slice('$ ks'.length))
      const at = words.indexOf('<')
      const stdin = at === -1 ? undefined : words[at + 1]
      step = { line: index + 1, words: at === -1 ? words : words.slice(0, at), stdin, stdout: [], stderr: [], code: 0 }
      session.steps.push(step)
    } else if (step !== undefined && code !== undefined) step.code = Number(code)
    else if (step !== undefined && line.startsWith('! ')) step.stderr.push(line === '! .' ? '' : line.slice(2))
    else if (step !== undefined && line !== '') step.stdout.push(line === '.' ? '' : line)
  }
  return session
}

/** Words of a line; quotes group words. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

const PLACEHOLDERS: Record<string, string> = {
  '…': '.*',
  '[uuid]': '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  '[id]': '#[0-9a-f]{8}',
  '[time]': '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z',
  '[ms]': '\\d+(?:\\.\\d+)? m?s',
}

function pattern(line: string): RegExp {
  const parts = line.split(/(…|\[uuid\]|\[id\]|\[time\]|\[ms\])/)
  const source = parts.map((part) => PLACEHOLDERS[part] ?? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('')
  return new RegExp(`^${source}$`)
}

/** Matches every expected line; a line of `…` matches any number of lines. */
function matches(expected: string[], actual: string[]): boolean {
  const [first, ...rest] = expected
  if (first === undefined) return actual.length === 0
  if (first === '…') {
    return Array.from({ length: actual.length + 1 }, (_, skip) => skip).some((skip) =>
      matches(rest, actual.slice(skip)),
    )
  }
  return actual.length > 0 && pattern(first).test(actual[0] ?? '') && matches(rest, actual.slice(1))
}

function lines(text: string): string[] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => line.trimEnd())
}

let home: CliHome | undefined
afterEach(async () => {
  await home?.end()
})

describe('a session of ks commands', () => {
  for (const name of readdirSync(FOLDER).filter((entry) => entry.endsWith('.txt'))) {
    const session = parse(readFileSync(join(FOLDER, name), 'utf8'))
    it(`${name.replace('.txt', '')}: ${session.name}`, async () => {
      home = cliHome()
      for (const file of session.files) home.file(file.path, file.content)
      for (const step of session.steps) {
        const stdin = step.stdin === undefined ? '' : readFileSync(join(home.dir, step.stdin))
        const run = await home.ks(step.words, { stdin })
        const shown = `${name}:${step.line}\n${run.stdout}${run.stderr}[exit ${run.code}]`
        expect(run.code, shown).toBe(step.code)
        if (!matches(step.stdout, lines(run.stdout))) expect(lines(run.stdout), shown).toEqual(step.stdout)
        if (step.stderr.length > 0 && !matches(step.stderr, lines(run.stderr))) {
          expect(lines(run.stderr), shown).toEqual(step.stderr)
        }
      }
    }, 120_000)
  }
})
