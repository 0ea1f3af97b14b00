import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliHome, cliHome, KS, plainEnv, readBody, startTestServer } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

const SPACE_ID = '0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e'
const ENV = { KS_TOKEN: 't' }

let home: CliHome
beforeAll(() => {
  home = cliHome()
  for (const name of ['a', 'b']) home.file(`notes/${name}.md`, `# ${name}\n`)
})
afterAll(() => home.end())

/** A running `ks`, with what it has printed so far. */
function start(args: string[], env: Record<string, string> = {}) {
  const child = execa(process.execPath, [KS, ...args], {
    cwd: home.dir,
    env: { ...plainEnv(), ...home.env, ...env },
    stdin: 'ignore',
    buffer: false,
    reject: false,
    extendEnv: false,
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  return { child, said, exited: once(child, 'exit') }
}

const asset = (filename: string) => ({ id: SPACE_ID, filename })

/** The replies of a service that works. @returns whether the request was answered */
function answerCheck(body: Buffer, request: IncomingMessage, response: ServerResponse, state: object): boolean {
  if (request.url?.endsWith('/check') !== true) {
    response.end('{"limits":{"uploadBytes":1000},"items":[]}')
    return false
  }
  const { items } = JSON.parse(body.toString())
  response.end(JSON.stringify({ items: items.map(({ filename }: { filename: string }) => ({ filename, ...state })) }))
  return true
}

describe('an ingest during an outage', () => {
  it('does not send again what the service took before its answer was lost', async () => {
    let uploads = 0
    let refusals = 0
    const server = await startTestServer(async (request, response) => {
      const body = await readBody(request)
      if (request.url?.endsWith('/documents/bulk') === true) {
        uploads += 1
        refusals = 3
        request.socket.destroy()
        return
      }
      if (refusals > 0) {
        refusals -= 1
        request.socket.destroy()
        return
      }
      const taken = { status: 'unchanged', documentId: SPACE_ID, parserStatus: 'pending' }
      answerCheck(body, request, response, uploads === 0 ? { status: 'new' } : taken)
    })
    const run = await home.ks(['ingest', 'notes', '-s', SPACE_ID, '--url', server.url, '--json'], { env: ENV })
    await server.end()
    expect([run.code, uploads], run.stderr).toEqual([0, 1])
    expect(JSON.parse(run.stdout)).toEqual([
      { filename: 'notes/a.md', status: 'queued', documentId: SPACE_ID },
      { filename: 'notes/b.md', status: 'queued', documentId: SPACE_ID },
    ])
    expect(run.stderr).toContain(`ks: ${server.url} does not answer: waiting up to 2 min for it\n`)
    expect(run.stderr).toContain(`ks: ${server.url} answers again: continuing\n`)
  })

  it('continues after the daemon was killed while it compiled', async () => {
    await home.ks(['spaces', 'create', 'kept'])
    for (let n = 0; n < 30; n++) home.file(`many/${n}.md`, `# Page ${n}\n\nThe tide table of day ${n}.\n`)
    const { child, said, exited } = start(['ingest', 'many', '-s', 'kept', '--wait', '--json', '--debug'])
    await until(() => /documents\/bulk 202/.test(said.stderr) || child.exitCode !== null)
    process.kill(JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8')).pid, 'SIGKILL')
    const [code] = await exited
    expect(code, said.stderr).toBe(0)
    const records: { status: string }[] = JSON.parse(said.stdout)
    expect(records.map(({ status }) => status)).toEqual(Array(30).fill('published'))
    expect((await home.ks(['docs', '-s', 'kept', '--fields', 'filename'])).stdout.trim().split('\n')).toHaveLength(30)
  })
})

describe('the summary of an ingest', () => {
  it('appears after Ctrl-C, with the files whose compilation was followed', async () => {
    const server = await startTestServer(async (request, response) => {
      const body = await readBody(request)
      if (request.url?.startsWith('/bulk-jobs/') === true) return
      if (request.url?.endsWith('/documents/bulk') === true) {
        const items = ['notes/a.md', 'notes/b.md'].map((name) => ({
          asset: asset(name),
          compilationJob: { id: SPACE_ID, stage: 'queued' },
        }))
        response.writeHead(202).end(JSON.stringify({ bulkJobId: SPACE_ID, items }))
        return
      }
      answerCheck(body, request, response, { status: 'new' })
    })
    const args = ['ingest', 'notes', '-s', SPACE_ID, '--url', server.url, '--wait', '--format', 'table']
    const { child, said, exited } = start(args, ENV)
    await until(() => server.seen.some((line) => line.startsWith('GET /bulk-jobs/')))
    child.kill('SIGINT')
    await server.end()
    expect((await exited)[0]).toBe(130)
    expect(said.stdout).toBe('2 files: 2 queued\n')
    expect(said.stderr).toContain('ks: interrupted: 2 files sent; the service goes on reading them\n')
  })

  it('counts a pending file as skipped, with the reason, once the service finds its type unknown', async () => {
    let checks = 0
    const reason = 'blob.xyz is of an unknown type'
    const server = await startTestServer(async (request, response) => {
      const body = await readBody(request)
      if (request.url?.includes(`/documents/${SPACE_ID}`) === true) {
        const error = { code: 'unsupported-type', message: reason }
        response.end(JSON.stringify({ ...asset('blob.xyz'), metadata: { error } }))
        return
      }
      if (request.url?.endsWith('/check') === true) checks += 1
      const pending = { status: 'unchanged', documentId: SPACE_ID, parserStatus: 'pending' }
      const ended = { status: 'failed', documentId: SPACE_ID, parserStatus: 'failed', error: reason }
      answerCheck(body, request, response, checks < 3 ? pending : ended)
    })
    const args = ['ingest', home.file('blob.xyz', 'x'), '-s', SPACE_ID, '--url', server.url, '--wait', '--json']
    const run = await home.ks(args, { env: ENV })
    await server.end()
    expect(run.code, run.stderr).toBe(0)
    expect(JSON.parse(run.stdout)).toEqual([
      { filename: expect.stringMatching(/blob\.xyz$/), status: 'skipped', documentId: SPACE_ID, reason },
    ])
    expect(run.stderr).toContain('1 file: 1 skipped')
  })

  it('appears before an error, with the number of files that were not sent', async () => {
    const server = await startTestServer(async (request, response) => {
      const body = await readBody(request)
      if (request.url?.includes('/documents/bulk') === true || request.url?.endsWith('/documents') === true) {
        response.writeHead(403, { 'x-error-code': 'forbidden' }).end('{"error":"the grant has ended"}')
        return
      }
      if (request.url?.endsWith('/check') === true) {
        const { items } = JSON.parse(body.toString())
        const states = items.map(({ filename }: { filename: string }) =>
          filename === 'notes/a.md'
            ? { filename, status: 'unchanged', documentId: SPACE_ID }
            : { filename, status: 'new' },
        )
        response.end(JSON.stringify({ items: states }))
        return
      }
      response.end('{"limits":{"uploadBytes":1000},"items":[]}')
    })
    const args = ['ingest', 'notes', '-s', SPACE_ID, '--url', server.url, '--format', 'table']
    const run = await home.ks(args, { env: ENV })
    await server.end()
    expect([run.code, run.stdout]).toEqual([4, '2 files: 1 unchanged, 1 not sent\n'])
    expect(run.stderr).toContain('the grant has ended')
  })
})
