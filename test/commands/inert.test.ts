import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { main } from '../../src/cli/main.js'
import { listLeafCommands } from '../../src/kchat/completion.js'
import { main as kchat } from '../../src/kchat/main.js'
import { buildProgram } from '../../src/kchat/program.js'
import {
  CONTROL_CHARACTERS,
  HOSTILE,
  type HostileService,
  type Malice,
  SOME_ID,
  startHostileService,
} from '../helpers/hostile-service.js'

/**
 * A73, terminal-escapes: no content of the service, documents, names or errors reaches a terminal as more than text.
 * Every command that prints runs against a service that returns only hostile text.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Values of arguments by name; others are an id. */
const WORDS: Readonly<Record<string, string>> = {
  method: 'GET',
  path: '/knowledge/documents/a.md',
  text: 'who is on call',
  question: 'who is on call',
  pattern: 'call',
  old: '/workspaces/a.md',
  new: '/workspaces/b.md',
  verdict: 'confirmed',
  file: 'questions.jsonl',
  change: 'traces=30d',
  workspace: 'notes',
  name: 'a-name',
  model: 'local:embed',
  item: 'a-node',
}
/** Further arguments of commands. */
const MORE: Readonly<Record<string, string[]>> = {
  api: ['--paginate'],
  'golden:annotate': ['--answer', 'yes'],
  'sources:add': ['--uri', 'https://example.com', '--type', 'web'],
  'docs:reindex': ['--all'],
  'spaces:set-profile': ['--rerank-model', 'none'],
  'spaces:update': ['--name', 'new'],
  'sources:update': ['--name', 'new'],
  'golden:update': ['--question', 'why?'],
  'golden:run': ['--stored'],
  'views:topic': ['--topic', 'a'],
  'traces:review': ['--verdict', 'relevant'],
}
/** Commands that print nothing of a service or document, or that run until stopped. */
const SILENT: ReadonlyMap<string, string> = new Map([
  ['completion', 'its text is our own'],
  ['help', 'its text is our own'],
  ['daemon:run', 'it is the daemon'],
  ['daemon:exec', 'it runs a program'],
  ['daemon:start', 'it starts the daemon'],
  ['daemon:restart', 'it starts the daemon'],
  ['daemon:stop', 'it stops the daemon'],
  ['uninstall', 'it would change the machine'],
  ['quickstart', 'it starts the daemon; what it prints `query` prints'],
  ['watch', 'it runs until it is stopped; its lines are those of `ingest`'],
  ['auth:login', 'it asks'],
])

let service: HostileService
let folder = ''
let said = ''
let commands: { id: string; args: string[]; flags: string[] }[] = []
const before = { ...process.env }

beforeAll(async () => {
  service = await startHostileService()
  folder = mkdtempSync(join(tmpdir(), 'ks-inert-'))
  const env = {
    KS_URL: service.url,
    KS_TOKEN: 'a.b.c',
    KS_SPACE: SOME_ID,
    KS_NO_INPUT: '1',
    NO_COLOR: '1',
    TERM: 'dumb',
    KCHAT_URL: service.url,
    KCHAT_API_KEY: 'app-x',
    KCHAT_USER: 'ada',
    LANG: 'C.UTF-8',
    COLUMNS: '100',
    ...Object.fromEntries(['DATA', 'CONFIG', 'CACHE', 'STATE'].map((one) => [`KS_${one}_DIR`, join(folder, one)])),
  }
  for (const name of Object.keys(process.env))
    if (/^(KS_|KCHAT_|CI$|CLICOLOR|FORCE_COLOR)/.test(name)) delete process.env[name]
  Object.assign(process.env, env)
  mkdirSync(join(folder, 'DATA', 'logs'), { recursive: true })
  writeFileSync(join(folder, 'questions.jsonl'), `${JSON.stringify({ question: HOSTILE })}\n`)
  writeFileSync(join(folder, `n${HOSTILE.replaceAll('\u0000', '').replaceAll('/', '')}.md`), HOSTILE)
  const config = await Config.load({ root: ROOT, userPlugins: false, devPlugins: false })
  const aliases = new Set(config.commands.flatMap((command) => command.aliases))
  commands = config.commands
    .filter(({ id }) => !aliases.has(id))
    .map(({ id, args, flags }) => ({ id, args: Object.keys(args), flags: Object.keys(flags) }))
})
afterAll(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
  await service.end()
  removeFolder(folder)
})
beforeEach(() => {
  said = ''
})

/** Runs a function with a terminal as stdout and stderr. @returns its complete output */
async function onTerminal(run: () => Promise<void>): Promise<string> {
  said = ''
  const cwd = process.cwd()
  const catches = [process.stdout, process.stderr].map((stream) => {
    Object.assign(stream, { isTTY: true })
    return vi.spyOn(stream, 'write').mockImplementation((...args: unknown[]) => {
      const [piece, encoding, done] = args
      said += typeof piece === 'string' ? piece : Buffer.from(piece as Uint8Array).toString()
      const then = typeof encoding === 'function' ? encoding : done
      if (typeof then === 'function') then()
      return true
    })
  })
  process.chdir(folder)
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {}
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from('who is on call')]), configurable: true })
  try {
    await run()
  } catch (error) {
    // vitest turns process.exit into an error.
    if (!String(error).includes('process.exit')) throw error
  } finally {
    process.chdir(cwd)
    Object.defineProperty(process, 'stdin', stdin)
    for (const each of catches) each.mockRestore()
    for (const stream of [process.stdout, process.stderr]) {
      Object.assign(stream, { isTTY: false })
      stream.removeAllListeners('error')
    }
    process.exitCode = undefined
  }
  return said
}

/** The first control character of a text with its context; undefined if there is none. */
function rawIn(text: string): string | undefined {
  const at = text.search(CONTROL_CHARACTERS)
  return at === -1 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))
}

const MALICE: readonly Malice[] = ['text', 'all', 'error']
const FORMATS = [[], ['--format', 'tsv'], ['--json']]

describe('A43, A73: foreign text in the output of commands', () => {
  it.each(MALICE)(
    'contains no control sequences for any command of ks (service: %s)',
    { timeout: 240_000 },
    async (malice) => {
      service.malice = malice
      const raw: string[] = []
      let printed = 0
      for (const { id, args, flags } of commands) {
        if (SILENT.has(id)) continue
        const words = args.map((name) => (name === 'path' && id === 'ingest' ? '.' : (WORDS[name] ?? SOME_ID)))
        const yes = flags.includes('yes') ? ['--yes'] : []
        for (const format of malice === 'text' ? FORMATS : FORMATS.slice(0, 1)) {
          const argv = [...id.split(':'), ...words, ...(MORE[id] ?? []), ...yes, '--timeout', '2s', ...format]
          const text = await onTerminal(() => main(argv, ROOT))
          if (text.includes('bad')) printed += 1
          const found = rawIn(text)
          if (found !== undefined) raw.push(`${argv.join(' ')}: ${found}`)
        }
      }
      expect(raw).toEqual([])
      // Most commands printed text of the service.
      expect(printed).toBeGreaterThan(commands.length / 2)
    },
  )

  it.each(MALICE)(
    'contains no control sequences for any command of kchat (service: %s)',
    { timeout: 240_000 },
    async (malice) => {
      service.malice = malice
      const raw: string[] = []
      const leaves = listLeafCommands(buildProgram()).filter(
        ({ words: [first] }) => first !== 'completion' && first !== 'login',
      )
      let printed = 0
      for (const { words, command } of leaves) {
        const named = command.registeredArguments.filter(({ required }) => required)
        const args = named.map((one) => one.argChoices?.[0] ?? WORDS[one.name()] ?? SOME_ID)
        const needed = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long ?? '', 'why?'])
        for (const format of malice === 'text' ? FORMATS : FORMATS.slice(0, 1)) {
          const argv = [...words, ...args, ...needed, '--timeout', '2s', '--debug', ...format]
          const text = await onTerminal(() => kchat(argv))
          if (text.includes('bad')) printed += 1
          const found = rawIn(text)
          if (found !== undefined) raw.push(`${argv.join(' ')}: ${found}`)
        }
      }
      expect(raw).toEqual([])
      expect(printed).toBeGreaterThan(leaves.length / 2)
    },
  )

  it('contains no control sequences for the log, a file name or document content', async () => {
    service.malice = 'text'
    const log = [`crash: ${HOSTILE}`, JSON.stringify({ level: 'info', msg: HOSTILE, path: HOSTILE })].join('\n')
    writeFileSync(join(folder, 'DATA', 'logs', 'daemon.log'), `${log}\n`)
    for (const format of [[], ['--format', 'tsv'], ['--format', 'jsonl'], ['--json']])
      expect(
        rawIn(await onTerminal(() => main(['daemon', 'logs', '--context', 'local', ...format], ROOT))),
      ).toBeUndefined()
    const named = `-${HOSTILE.replaceAll('\u0000', '')}`
    for (const argv of [
      ['ingest', `./${named}`],
      ['docs', 'show', HOSTILE],
      [HOSTILE],
      ['spaces', 'show', HOSTILE],
      ['fs', 'ls', named],
    ])
      expect(rawIn(await onTerminal(() => main([...argv, '--debug'], ROOT))), argv.join(' ')).toBeUndefined()
    for (const argv of [[HOSTILE], ['send', 'hi', '--conversation', HOSTILE], ['upload', HOSTILE], ['use', HOSTILE]])
      expect(rawIn(await onTerminal(() => kchat([...argv, '--debug']))), argv.join(' ')).toBeUndefined()
  })
})
