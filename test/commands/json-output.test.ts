import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { splitWords } from '../../src/cli/aliases.js'
import { COMMAND_OUTPUTS } from '../../src/cli/json-output/commands.js'
import { describeJsonOutput } from '../../src/cli/json-output/describe.js'
import { cliHome, startTestServer, type TestServer } from '../helpers/cli.js'
import { compileSchema } from '../helpers/json-output.js'
import { ASKS, ELSEWHERE, ENDLESS, NOT_RUN } from './documented/exceptions.js'
import { documentedLines } from './documented/lines.js'
import { space } from './documented/made.js'
import { prepare, swapped } from './documented/subjects.js'
import { startWorld, type World } from './documented/world.js'

/** The helper that runs `ks` checks what each command prints; these tests let every command print. */

const ids = Object.keys(COMMAND_OUTPUTS)
const processes = pLimit(3)

/** Commands whose examples install, wait for keys, or start other programs, and the tests that run them with `--json`. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'daemon:exec': 'has no JSON output',
  help: 'has no JSON output',
  mcp: 'has no JSON output',
  'models:remove': 'models-pull.test.ts',
}

/** Commands that print as JSON until they are interrupted, unless `--once` is given. */
const ENDLESS_AS_JSON = /^ks top\b(?!.* --once)/

/** Documented lines of one command without redirections. */
const LINES = documentedLines().filter(
  ({ file, text }) =>
    file === 'docs/cli.md' &&
    /^ks [^|<>;&]*$/.test(text.replace(/"[^"]*"|'[^']*'/g, '')) &&
    ![NOT_RUN, ENDLESS, ASKS].some((table) => Object.hasOwn(table, text)) &&
    !ELSEWHERE.test(text) &&
    !ENDLESS_AS_JSON.test(text) &&
    !/ --(format|jq|template|json)\b/.test(text.replace(/ --json$/, '')) &&
    !/^ks (mcp|help|daemon exec|auth logout)\b(?! install)/.test(text),
)

/** Commands whose examples are all excluded. */
const ADDED_LINES = ['ks spaces status example-space']
const ALL_LINES = [...LINES.map(({ text }) => text), ...ADDED_LINES]

describe('the JSON of every command', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld()
    await space(world, 'example-space')
  })
  afterEach(() => world.goOn())
  afterAll(() => world?.end())

  it('comes from an example here, or from a named test', () => {
    const run = new Set([...ALL_LINES.map((text) => findId(splitWords(text).slice(1))), 'auth:login', 'auth:logout'])
    expect(ids.filter((id) => !run.has(id)).sort()).toEqual(Object.keys(RUN_ELSEWHERE).sort())
  })

  it.each(ALL_LINES)('conforms to its schema: %s', async (text) => {
    const line = swapped(text, await prepare(world, text)).replaceAll('~', world.home.dir)
    const [, ...args] = splitWords(line)
    const { code, stderr } = await world.home.ks(args, {
      env: { KS_FORMAT: 'json' },
      cwd: join(world.home.dir, 'work'),
    })
    expect(code, stderr).toBe(0)
  })

  it('conforms to its schema for a login and a logout', async () => {
    const env = { KS_FORMAT: 'json', KS_URL: await world.url() }
    const login = await world.home.ks(['auth', 'login'], { env, stdin: world.token() })
    expect(JSON.parse(login.stdout), login.stderr).toMatchObject({ stored: true })
    const logout = await world.home.ks(['auth', 'logout'], { env })
    expect(JSON.parse(logout.stdout), logout.stderr).toMatchObject({ deleted: true })
  })

  const MISSING = '018f22aa-0000-7000-8000-000000000001'
  it.each([
    ['spaces show no-space', 5],
    ['spaces create Example --slug example-space', 6],
    ['spaces update example-space', 2],
    ['spaces --url http://127.0.0.1:1', 4],
    ['spaces --url nonsense', 2],
    ['docs show none.md', 5],
    [`docs show ${MISSING} --as tables`, 5],
    ['docs --cursor nonsense', 2],
    ['docs reindex', 2],
    ['query ""', 2],
    ['search ""', 2],
    [`jobs show ${MISSING}`, 5],
    [`jobs retry ${MISSING}`, 5],
    [`traces show ${MISSING}`, 5],
    [`golden ${MISSING}`, 5],
    ['golden run --file none.yaml', 2],
    [`failed triage ${MISSING} odd`, 2],
    ['graph nobody-of-this-name', 5],
    ['graph communities --space no-space', 5],
    [`research show ${MISSING}`, 5],
    [`sources show ${MISSING}`, 5],
    ['sources add Odd --uri example.com', 2],
    ['fs cat /sources/none', 5],
    ['fs grep "("', 2],
    ['fs sh "rm x"', 2],
    ['fs rm /sources/uploads', 2],
    ['ingest no-such-folder', 2],
    ['read no-such-file', 2],
    ['watch remove no-such-folder', 5],
    ['fsck no-space', 5],
    ['gc no-space', 5],
    ['bundle export no-space -o none.tar', 5],
    ['bundle import no-such-file', 2],
    ['restore no-such-folder --into restored', 5],
    ['auth token --scope everything', 2],
    ['auth login', 2],
    ['config nothing', 2],
    ['context nothing', 5],
    ['alias nothing', 5],
    ['models add nothing', 2],
    ['models test nothing', 5],
    ['models remove nothing', 5],
    ['mcp install nothing', 2],
    ['api nothing', 2],
    [`api getDocument -f documentId=${MISSING}`, 5],
    ['completion --dry-run', 2],
    ['nothing', 2],
  ])('reports the failure of `ks %s` with exit code %i', async (line, expected) => {
    const { code, stderr } = await world.home.ks([...splitWords(line), '--json'])
    const error = stderr.split('\n').find((text) => text.startsWith('{'))
    expect(error, stderr).toBeDefined()
    expect(JSON.parse(error ?? '')).toMatchObject({ error: { exitCode: expected } })
    expect(code).toBe(expected)
  })

  it('reports an unknown flag', async () => {
    const env = { KS_FORMAT: 'json' }
    const runs = ids.map((id) => processes(() => world.home.ks([...id.split(':'), '--no-such-flag'], { env })))
    for (const [index, { code, stderr }] of (await Promise.all(runs)).entries()) {
      expect([ids[index], code]).toEqual([ids[index], 2])
      expect(JSON.parse(stderr), ids[index]).toMatchObject({ error: { code: 'usage', exitCode: 2 } })
    }
  })
})

describe('--json-schema', () => {
  const home = cliHome()
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer((_request, response) => response.end('{}'))
    home.env['KS_URL'] = server.url
  })
  afterAll(async () => {
    await home.end()
    await server.end()
  })

  const TIMEOUT = { timeout: 300_000 }
  it('prints the schema of each command without its arguments, or the reason for none', TIMEOUT, async () => {
    const runs = ids.map((id) => processes(() => home.ks([...id.split(':'), '--json-schema'])))
    for (const [index, { code, stdout, stderr }] of (await Promise.all(runs)).entries()) {
      const id = ids[index] ?? ''
      if (typeof COMMAND_OUTPUTS[id] === 'string') {
        expect([id, code, stdout]).toEqual([id, 2, ''])
        expect(stderr).toContain(`\`ks ${id.replaceAll(':', ' ')}\` has no JSON output: `)
        continue
      }
      expect([id, code, stderr]).toEqual([id, 0, ''])
      expect(JSON.parse(stdout)).toEqual(describeJsonOutput(id))
      expect(JSON.parse(stdout).$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    }
    expect(server.seen).toEqual([])
    expect(existsSync(home.dataDir)).toBe(false)
  })

  it('works before the command, for an alias, and with a filter', async () => {
    const schema = (await home.ks(['docs', '--json-schema'])).stdout
    expect((await home.ks(['--json-schema', 'docs'])).stdout).toBe(schema)
    expect((await home.ks(['docs', 'list', '--skipped', '--json-schema'])).stdout).toBe(schema)
    const filtered = await home.ks(['docs', '--json-schema', '--jq', '.anyOf[0].items["$ref"]'])
    expect(filtered, filtered.stderr).toMatchObject({ code: 0, stdout: '#/$defs/DocumentAsset\n' })
  })

  it('prints the schema of the reply of an operation', async () => {
    const { stdout } = await home.ks(['api', 'getHealth', '--json-schema'])
    const validate = compileSchema(JSON.parse(stdout))
    expect(validate({ ok: true, runtime: 'container-runtime', components: {} })).toBe(true)
    expect(validate({ ok: true })).toBe(false)
    expect(await home.ks(['api', 'getHealt', '--json-schema'])).toMatchObject({ code: 2, stdout: '' })
    expect(await home.ks(['api', 'GET', '/health', '--json-schema'])).toMatchObject({ code: 2, stdout: '' })
    expect(await home.ks(['api', 'exportBundle', '--json-schema'])).toMatchObject({ code: 2, stdout: '' })
  })

  it('refuses an unknown flag and a value', async () => {
    expect(await home.ks(['docs', '--json-schema', '--nosuch'])).toMatchObject({ code: 2, stdout: '' })
    expect(await home.ks(['docs', '--json-schema=yes'])).toMatchObject({ code: 2, stdout: '' })
  })
})

/** The id of the command that the first words name. */
function findId(words: readonly string[]): string | undefined {
  const names = words.map((_, index) => words.slice(0, index + 1).join(':'))
  const id = names.findLast((name) => ids.includes(name))
  return id === undefined && words[0] === 'daemon' ? 'daemon' : id
}
