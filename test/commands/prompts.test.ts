import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome, KCHAT, KS } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { page, type Site, startSite } from '../helpers/site.js'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'

const CTRL_C = '\u0003'
const home = cliHome()
let fake: FakeOpenAi
let site: Site

const at = (program: string, words: string, types: [RegExp, string][] = []) =>
  runInTerminal(`'${process.execPath}' '${program}' ${words}`, { cwd: home.dir, env: home.env, inputs: types })
const ks = (words: string, types: [RegExp, string][] = []) => at(KS, words, types)
const kchat = (words: string, types: [RegExp, string][] = []) => at(KCHAT, words, types)

beforeAll(async () => {
  fake = await startFakeOpenAi({ dimension: 16 })
  site = await startSite({
    '/': page('Start', 'Visitors moor at the quay.', ['/a']),
    '/a': page('A', 'The quay is old.'),
  })
  home.env.KS_DAEMON_EGRESS_ALLOW = '127.0.0.2'
  home.env.KS_DAEMON_PROVIDERS = JSON.stringify([
    { pluginId: 'openai-compatible', provider: 'local', baseUrl: fake.url, maxBatch: 2 },
  ])
  for (let number = 1; number <= 8; number++)
    home.file(`notes/${number}.md`, `# Light ${number}\n\nIt was built in 19${number}0.\n`)
  for (const args of [
    ['ingest', 'notes', '--space', 'notes', '--create', '--wait'],
    ['config', 'space', 'notes'],
  ])
    expect(await home.ks(args)).toMatchObject({ code: 0 })
  expect(await home.kchat(['apps', 'create', 'Lights', '--space', 'notes'])).toMatchObject({ code: 0 })
}, 90_000)
afterAll(async () => {
  await home.end()
  await Promise.all([fake.close(), site.end()])
})

describe.skipIf(!hasTerminal)('Ctrl-C at a prompt', () => {
  it.each<[string, RegExp]>([
    ['spaces delete notes', /Type notes to continue: /],
    ['docs reindex --all', /\[y\/N\]/],
    ['auth login --url http://127.0.0.1:9', /token.*: /i],
  ])('ends `ks %s` with 130 and without effect', async (words, question) => {
    const { code, screen } = await ks(words, [[question, CTRL_C]])
    expect(code, screen).toBe(130)
    expect(screen).not.toContain('unexpected')
    expect((await home.ks(['docs', '--fields', 'id'])).stdout.trim().split('\n')).toHaveLength(8)
  })

  it.each<[string, RegExp]>([
    ['apps delete Lights', /\[y\/N\]/],
    ['login other --url http://127.0.0.1:9', /key.*: /i],
  ])('ends `kchat %s` with 130 and without effect', async (words, question) => {
    const { code, screen } = await kchat(words, [[question, CTRL_C]])
    expect(code, screen).toBe(130)
    expect((await home.kchat(['apps', '--fields', 'name'])).stdout).toBe('Lights\n')
  })
})

describe.skipIf(!hasTerminal)('with `-q`, a terminal shows only the result of', () => {
  const tells = /[█░]|\d+ of \d+|\d+\/\d+|uploaded|planning|retrieving|evidence \d|Starting|hint:|more:/

  it('an ingest', async () => {
    home.file('more/late.md', '# Late\n\nThis light came late.\n')
    const { code, screen } = await ks('ingest more --wait -q --fields status')
    expect([code, screen]).toEqual([0, expect.not.stringMatching(tells)])
  })

  it('a research task', async () => {
    const { code, screen } = await ks('research start "which light was built first and which last?" --wait -q')
    expect([code, screen]).toEqual([0, expect.not.stringMatching(tells)])
    expect(screen).toContain('# ')
  })

  it('a crawl', async () => {
    const added = await home.ks(['sources', 'add', 'Site', '--uri', `${site.url}/`, '--json'])
    const { code, screen } = await ks(`sources import ${JSON.parse(added.stdout).id} -q`)
    expect([code, screen]).toEqual([0, expect.not.stringMatching(tells)])
  })

  it('a migration to another embedding model, however slow', async () => {
    fake.always({ kind: 'slow', ms: 700 })
    const loud = await ks('spaces update notes --embedding openai-compatible/local/one --wait')
    expect([loud.code, loud.screen]).toEqual([0, expect.stringMatching(/\d+ of \d+ passages/)])
    const { code, screen } = await ks('spaces update notes --embedding openai-compatible/local/two --wait -q')
    expect([code, screen]).toEqual([0, expect.not.stringMatching(tells)])
  })
})
