import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome, KS, plainEnv, startTestServer, type TestServer } from '../helpers/cli.js'

const home = cliHome()
let server: TestServer
const tokens: (string | undefined)[] = []

beforeAll(async () => {
  server = await startTestServer((request, response) => {
    tokens.push(request.headers.authorization)
    response.setHeader('x-ks-version', '9.4.0')
    if (request.headers.authorization !== 'Bearer good') {
      response.writeHead(401, { 'x-error-code': 'unauthenticated' })
      response.end('{"error":"the token is not valid"}')
      return
    }
    response.end('{"items":[]}')
  })
})
afterAll(async () => {
  await server.end()
  await home.end()
})

describe('a remote service', () => {
  it('gets a token that `ks auth login` tested before it stored it for this origin only', async () => {
    await home.ks(['context', 'work', '--url', server.url])
    const refused = await home.ks(['auth', 'login', '--context', 'work'], { stdin: 'bad\n' })
    expect([refused.code, refused.stderr]).toEqual([
      4,
      `ks: ${server.url} refused the token of context "work": the token is not valid\nhint: \`ks auth login --context work\`\n`,
    ])
    expect((await home.ks(['auth', 'login', '--context', 'work'], { stdin: 'good\n' })).code).toBe(0)
    const stored = join(home.dir, 'config', 'credentials.json')
    expect(statSync(stored).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(stored, 'utf8')).credentials).toEqual([
      { origin: server.url, context: 'work', token: 'good' },
    ])
    expect((await home.ks(['spaces', '--context', 'work', '--json'])).stdout).toBe('[]\n')
    expect((await home.ks(['spaces', '--url', server.url])).code).toBe(0)
    expect((await home.ks(['spaces', '--url', server.url.replace('127.0.0.1', 'localhost')])).code).toBe(4)
  })

  it('causes one note a day if its minor version differs', async () => {
    const mentions = []
    const other = cliHome()
    for (let run = 0; run < 2; run++) {
      const { stderr } = await other.ks(['spaces', '--url', server.url, '--json'], { env: { KS_TOKEN: 'good' } })
      mentions.push(/^ks: the daemon is 9\.4\.0, ks is /.test(stderr))
    }
    await other.end()
    expect(mentions).toEqual([true, false])
  })

  it('appears with --verbose, with the setting that selected it', async () => {
    const { stderr } = await home.ks(['spaces', '--verbose'], { env: { KS_CONTEXT: 'work' } })
    expect(stderr).toContain(`ks: using ${server.url} (environment)\n`)
  })

  it('gets requests that --debug prints without the token', async () => {
    const { stderr } = await home.ks(['spaces', '--debug', '--context', 'work'])
    expect(stderr).toMatch(/^debug: GET \/knowledge-spaces\?limit=\d+ 200 \d+ ms trace -$/m)
    expect(stderr).not.toContain('good')
  })

  it.each([
    ['backup', ['copies']],
    ['restore', ['copies']],
    ['daemon', []],
    ['daemon start', []],
    ['daemon stop', []],
    ['daemon logs', []],
    ['auth token', []],
    ['models add', ['openai']],
    ['uninstall', []],
  ])('does not get `ks %s`, which works on this machine only', async (command, args) => {
    const refused = await home.ks([...command.split(' '), ...args, '--context', 'work'])
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toBe(
      `ks: \`ks ${command}\` works on the data of this machine, but the selected service is ${server.url} (context "work")\n` +
        'hint: `--context local` selects the local daemon\n',
    )
  })

  it('needs a new token after `ks auth logout`', async () => {
    expect((await home.ks(['auth', 'logout', '--context', 'work'])).code).toBe(0)
    expect((await home.ks(['auth', 'logout', '--context', 'work'])).code).toBe(5)
    expect((await home.ks(['spaces', '--context', 'work'])).code).toBe(4)
  })
})

describe('a pipe whose reader leaves early', () => {
  it('ends the command silently, with success', async () => {
    const child = execa(process.execPath, [KS, 'completion', 'fish'], {
      env: { ...plainEnv(), ...home.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      buffer: false,
      reject: false,
      extendEnv: false,
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdout.destroy()
    const [code] = await once(child, 'exit')
    expect([code, stderr]).toEqual([0, ''])
  })
})
