import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome
beforeAll(async () => {
  home = cliHome()
  home.file('docs/a.md', '# A\n\nMoss grows here.\n')
  home.file('tls/server.key', 'PRIVATE KEY')
  home.file('config/config.json', '{}')
  home.file('state/notes.md', 'a')
  mkdirSync(home.dataDir, { recursive: true })
  symlinkSync(home.dataDir, join(home.dir, 'docs', 'linked'))
  expect((await home.ks(['spaces', 'create', 'Notes'])).code).toBe(0)
})
afterAll(() => home.end())

const env = () => ({ KS_DAEMON_TLS_KEY: join(home.dir, 'tls', 'server.key') })
const RULE = 'data, configuration, state and keys of this program cannot be added to a space'

test.each(['data/signing.key', 'data', 'docs/linked/signing.key', 'config/config.json', 'state', 'tls/server.key'])(
  '`ks ingest %s` is refused with the path and the rule, and sends nothing',
  async (path) => {
    const { code, stderr } = await home.ks(['ingest', join(home.dir, path), '--wait'], { env: env() })
    expect([code, stderr]).toEqual([2, expect.stringContaining(RULE)])
    expect(stderr).toContain(path)
    expect(JSON.parse((await home.ks(['docs', '--json'])).stdout)).toEqual([])
  },
)

test.each(['data', 'config', 'state', 'docs/linked'])('`ks watch add %s` is refused with the rule', async (path) => {
  const { code, stderr } = await home.ks(['watch', 'add', join(home.dir, path)])
  expect([code, stderr]).toEqual([2, expect.stringContaining(RULE)])
})

test.each(['config', 'state', 'docs/linked'])(
  'the daemon answers 400 to watching %s or recording files there',
  async (path) => {
    const [{ id: knowledgeSpaceId }] = JSON.parse((await home.ks(['spaces', '--json'])).stdout)
    const folder = join(home.dir, path)
    const { url } = JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8'))
    const token = readFileSync(join(home.dataDir, 'cli.token'), 'utf8').trim()
    const call = async (method: string, route: string, body: unknown) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const answer = await fetch(url + route, { method, headers, body: JSON.stringify(body) })
      return `${answer.status} ${await answer.text()}`
    }
    const rules = { glob: [], ignore: [], hidden: false, ignoreFiles: true, onDelete: 'keep', acceptMissing: false }
    const watch = await call('POST', '/daemon/watches', { knowledgeSpaceId, folder, ...rules })
    expect(watch).toMatch(/^400 /)
    expect(watch).toContain(RULE)
    const facts = { filename: 'a.md', fingerprint: 'x', device: '1', sizeBytes: 1, sha256: 'a'.repeat(64) }
    const record = { files: [{ ...facts, path: join(folder, 'a.md') }], forget: [] }
    const noted = await call('POST', `/knowledge-spaces/${knowledgeSpaceId}/local-files`, record)
    expect(noted).toContain(RULE)
  },
)

test('`ks ingest` of a parent folder excludes the directories of the program and the key files of its settings', async () => {
  const { code, stdout } = await home.ks(['ingest', home.dir, '--wait', '--json', '--space', 'notes'], { env: env() })
  expect([code, stdout]).toEqual([0, expect.stringContaining('a.md')])
  const names = JSON.parse((await home.ks(['docs', '--json', '--space', 'notes'])).stdout).map(
    ({ filename }: { filename: string }) => filename,
  )
  expect(names).toEqual([expect.stringMatching(/docs\/a\.md$/)])
})
