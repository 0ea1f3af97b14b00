import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'
import { documentedLines } from './documented/lines.js'
import { prepare, swapped } from './documented/subjects.js'
import { startWorld, type World } from './documented/world.js'

/** Lines that cannot run here. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm run quickstart': 'installs packages; what it does after that is `ks quickstart`',
  'npm test': 'runs this test',
  'ks console': 'opens a browser; the same with `--no-open` is run',
}

/**
 * Lines that install the package or need the installed one, and lines that download a model and its runtime:
 * `test/package` and `models-pull.test.ts` cover them.
 */
const ELSEWHERE =
  /^(npm (install|uninstall|ci|pack|run package:deb)\b|KS_PACKAGE=portable npm pack|man ks-|ks models (pull (?!--list)|remove))/

/** Lines that run until Ctrl-C: the output to wait for, and the exit code. */
const ENDLESS: Readonly<Record<string, { shows?: RegExp; code: number }>> = {
  'ks daemon logs -f --level warn': { shows: /the tide is high/, code: 130 },
  'ks daemon start --foreground --listen 127.0.0.1:0': { shows: /answers at/, code: 0 },
  'ks spaces status example-space --watch': { shows: /knowledgeSpaceId/, code: 130 },
  'ks watch ~/notes --space example-space': { shows: /watching/, code: 130 },
  'ks watch ./docs ./specs --space example-space --format jsonl': { shows: /watching.*watching/s, code: 130 },
  'ks watch ~/notes --space notes': { shows: /watching/, code: 130 },
  'ks watch ~/notes --space notes --poll 5s': { shows: /polled every 5 s/, code: 130 },
  'ks watch ./docs --space example-space --poll 2s': { shows: /polled every 2 s/, code: 130 },
}

/** Lines that ask at a terminal, and the typed reply. */
const ASKS: Readonly<Record<string, (world: World) => [RegExp, string]>> = {
  'ks auth login --context work': (world) => [/token.*: /i, `${world.token()}\r`],
  "ks sources delete '#a1b2c3d4' --keep-documents --space example-space": () => [/\[y\/N\]/, 'y\r'],
  'ks fs rm /workspaces/audit/old --recursive': () => [/\[y\/N\]/, 'y\r'],
}

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
