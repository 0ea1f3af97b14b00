import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'
import { ASKS, ELSEWHERE, ENDLESS, NOT_RUN } from './documented/exceptions.js'
import { documentedLines } from './documented/lines.js'
import { prepare, swapped } from './documented/subjects.js'
import { startWorld, type World } from './documented/world.js'

const LINES = documentedLines()
const runnable = LINES.filter(({ text }) => NOT_RUN[text] === undefined && !ELSEWHERE.test(text))
const pages = [...new Set(runnable.map(({ file }) => file))]

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterEach(() => world.goOn())
afterAll(() => world?.end())

describe.each(pages)('command lines in %s succeed:', (file) => {
  const rows = runnable.filter((line) => line.file === file).map(({ text, preamble }) => [text, preamble] as const)
  it.each(rows)('%s', async (text, preamble) => {
    const asks = ASKS[text]
    if (asks !== undefined && !hasTerminal) return
    const line = preamble + swapped(text, await prepare(world, text))
    const { shows, code: expected } = ENDLESS[text] ?? { code: 0 }
    const { code, said } = asks === undefined ? await piped(line, shows) : await typed(line, asks(world))
    expect(said).not.toContain('unexpected error')
    expect(code, said).toBe(expected)
  })
})

it('the exceptions for command lines name existing lines', () => {
  const texts = new Set(LINES.map(({ text }) => text))
  const named = [NOT_RUN, ENDLESS, ASKS].flatMap((table) => Object.keys(table))
  expect(named.filter((text) => !texts.has(text))).toEqual([])
})

it('command lines of every page are found', () => {
  expect(Object.keys(NOT_RUN).length).toBeLessThanOrEqual(3)
  expect(LINES.length).toBeGreaterThan(300)
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/cli.md', 'docs/chat.md', 'docs/http.md']))
})

async function piped(line: string, shows: RegExp | undefined) {
  const { code, stdout, stderr } = await world.shell(line, shows === undefined ? {} : { interruptAt: shows })
  return { code, said: `${stderr}${stdout}` }
}

async function typed(line: string, answer: [RegExp, string]) {
  const cwd = join(world.home.dir, 'work')
  const { code, screen } = await runInTerminal(line, { cwd, env: world.home.env, inputs: [answer] })
  return { code, said: screen }
}
