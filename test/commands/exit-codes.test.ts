import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'
import { startKsd } from '../helpers/daemon.js'

const home = cliHome()
let daemon: Awaited<ReturnType<typeof startKsd>>

beforeAll(async () => {
  daemon = await startKsd(home.dataDir, [], { ...home.env, KS_DAEMON_UPLOAD_BYTES: '1000' })
  expect(await home.ks(['spaces', 'create', 'notes'])).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await daemon.end('SIGTERM')
  await home.end()
})

describe('ks ingest', () => {
  it('exits with 7 if the only file is above the size limit, and with 3 if a second file is ingested', async () => {
    home.file('big/big.md', 'x '.repeat(2000))
    const alone = await home.ks(['ingest', 'big'])
    expect([alone.code, alone.stderr]).toEqual([
      7,
      expect.stringContaining('3.9 KiB is over the upload limit of 1000 B: big/big.md'),
    ])
    home.file('big/small.md', '# Small\n')
    expect((await home.ks(['ingest', 'big'])).code).toBe(3)
  })

  it('ignores an empty file, with a note', async () => {
    home.file('code/__init__.py', '')
    home.file('code/main.md', '# Main\n\nText.\n')
    const { code, stderr } = await home.ks(['ingest', 'code', '--wait'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('skipped code/__init__.py: is empty')])
  })
})

describe('a data directory that cannot be created', () => {
  const env = { KS_DATA_DIR: join(home.dir, 'file/data'), KS_URL: '' }

  it('appears with the reason in the message of a command', async () => {
    home.file('file', 'no folder')
    const { code, stderr } = await home.ks(['spaces'], { env })
    expect([code, stderr]).toEqual([1, expect.stringContaining(`"${env.KS_DATA_DIR}`)])
    expect(stderr).toContain('part of the path is not a folder')
    expect(stderr).not.toContain('unexpected')
  })

  it('appears in the report of `ks doctor`', async () => {
    const { stdout } = await home.ks(['doctor', '--format', 'tsv'], { env })
    expect(stdout).toContain(`${env.KS_DATA_DIR} cannot be created: ${join(home.dir, 'file')} is not a folder`)
  })
})

describe('output with --json', () => {
  it('consists of one JSON value for `ks daemon logs` and `ks golden --export`', async () => {
    const log = JSON.parse((await home.ks(['daemon', 'logs', '--json'])).stdout)
    expect(log).toEqual(expect.arrayContaining([expect.objectContaining({ msg: 'ready' })]))
    expect(JSON.parse((await home.ks(['golden', '--export', '--json'])).stdout)).toEqual([])
  })
})

describe('a token of the daemon', () => {
  it('can be stored for a context and used for the same origin by --url', async () => {
    const url = daemon.ready.url
    const token = readFileSync(join(home.dataDir, 'cli.token'), 'utf8')
    expect(await home.ks(['context', 'far', '--url', url])).toMatchObject({ code: 0 })
    const login = await home.ks(['auth', 'login', '--context', 'far'], { stdin: token })
    expect(login, login.stderr).toMatchObject({ code: 0 })
    expect(await home.ks(['spaces', '--url', url, '--fields', 'slug'])).toMatchObject({ code: 0, stdout: 'notes\n' })
  })

  it('leads to exit 4 with the reason if the token is from another daemon', async () => {
    const other = cliHome()
    try {
      expect(await other.ks(['spaces'])).toMatchObject({ code: 0 })
      const foreign = readFileSync(join(other.dataDir, 'cli.token'), 'utf8').trim()
      const ask = (token: string) => home.ks(['spaces', '--url', daemon.ready.url], { env: { KS_TOKEN: token } })
      expect(await ask(foreign)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('a key that this service does not know'),
      })
    } finally {
      await other.end()
    }
  })
})
