import { once } from 'node:events'
import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliHome, cliHome, KS, plainEnv, readBody, startTestServer } from '../helpers/cli.js'

let home: CliHome
beforeAll(async () => {
  home = cliHome()
  home.env.KS_DAEMON_UPLOAD_BYTES = '100000'
  await home.ks(['api', 'getHealth'])
})
afterAll(() => home.end())

let spaces = 0
async function newSpace(): Promise<string> {
  const slug = `s${spaces++}`
  expect((await home.ks(['spaces', 'create', slug])).code).toBe(0)
  return slug
}

interface Shown {
  filename: string
  status: string
  reason?: string
}

/** The start of a PNG file without the rest. */
const BROKEN_PICTURE = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

async function ingest(path: string, space: string, ...more: string[]) {
  const run = await home.ks(['ingest', path, '-s', space, '--json', ...more])
  const records: Shown[] = run.stdout === '' ? [] : JSON.parse(run.stdout)
  return { ...run, states: Object.fromEntries(records.map((record) => [record.filename, record.status])), records }
}

describe('a file above the upload limit', () => {
  it('fails before a byte of the file is read', async () => {
    const space = await newSpace()
    home.file('huge/small.md', '# Small\ntext\n')
    home.file('huge/sparse.md', '')
    truncateSync(join(home.dir, 'huge/sparse.md'), 2 ** 40)
    const { records } = await ingest('huge', space)
    expect(records).toMatchObject([
      { filename: 'huge/small.md', status: 'queued' },
      {
        filename: 'huge/sparse.md',
        status: 'failed',
        reason: expect.stringMatching(/^1.* TiB is over the upload limit of .*$/),
      },
    ])
  })
})

describe('ingesting a folder again', () => {
  it('uploads new and changed files only', async () => {
    const space = await newSpace()
    home.file('a/one.md', '# One\nfirst text\n')
    home.file('a/two.md', '# Two\nsecond text\n')
    expect((await ingest('a', space, '--wait')).states).toEqual({ 'a/one.md': 'published', 'a/two.md': 'published' })
    expect((await ingest('a', space, '--wait')).states).toEqual({ 'a/one.md': 'unchanged', 'a/two.md': 'unchanged' })
    home.file('a/one.md', '# One\nother text\n')
    home.file('a/three.md', '# Three\nthird text\n')
    expect((await ingest('a', space, '--wait')).states).toEqual({
      'a/one.md': 'published',
      'a/three.md': 'published',
      'a/two.md': 'unchanged',
    })
    const docs = await home.ks(['docs', '-s', space, '--all', '--fields', 'filename'])
    expect(docs.stdout.trim().split('\n').sort()).toEqual(['a/one.md', 'a/three.md', 'a/two.md'])
  })

  it('uploads an unchanged file whose document was deleted in the service', async () => {
    const space = await newSpace()
    home.file('b/x.md', '# X\ntext\n')
    await ingest('b', space, '--wait')
    const listed = await home.ks(['docs', '-s', space, '--fields', 'id'])
    expect((await home.ks(['docs', 'delete', listed.stdout.trim(), '-s', space])).code).toBe(0)
    expect((await ingest('b', space, '--wait')).states).toEqual({ 'b/x.md': 'published' })
  })

  it('finds unchanged files although the hash cache is damaged', async () => {
    const space = await newSpace()
    home.file('c/x.md', '# X\nmore text\n')
    await ingest('c', space, '--wait')
    const folder = join(home.dir, 'state', 'ingest')
    for (const file of readdirSync(folder)) writeFileSync(join(folder, file), '{broken')
    expect((await ingest('c', space)).states).toEqual({ 'c/x.md': 'unchanged' })
  })

  it('waits with --wait for documents that an earlier ingest uploaded', async () => {
    const space = await newSpace()
    for (let n = 0; n < 20; n++) home.file(`late/${n}.md`, `# Doc ${n}\ntext number ${n}\n`)
    await ingest('late', space)
    const waited = await ingest('late', space, '--wait')
    expect(new Set(Object.values(waited.states))).toEqual(new Set(['unchanged']))
    const docs = await home.ks(['docs', '-s', space, '--all', '--fields', 'parserStatus'])
    expect(new Set(docs.stdout.trim().split('\n'))).toEqual(new Set(['parsed']))
  })
})

describe('files that fail', () => {
  it('lead to exit 3 and appear grouped by the reason of the service; all further files are ingested', async () => {
    const space = await newSpace()
    home.file('mixed/good.md', '# Good\nreadable text\n')
    home.file('mixed/picture.png', BROKEN_PICTURE)
    home.file('mixed/empty.md', ' \n')
    const { code, stderr, states } = await ingest('mixed', space, '--wait', '--format', 'json')
    expect([code, states['mixed/good.md'], states['mixed/picture.png'], states['mixed/empty.md']]).toEqual([
      3,
      'published',
      'failed',
      'skipped',
    ])
    const report = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
    expect(report.error).toMatchObject({ exitCode: 3, message: '1 of 3 files was not ingested' })
    const again = await home.ks(['ingest', 'mixed', '-s', space, '--wait', '--format', 'table'])
    expect(again.stdout).toBe('3 files: 1 unchanged, 1 skipped, 1 failed; 2 of them were retried\n')
    expect(again.stderr).toMatch(/^ks: 1 of 3 files was not ingested$/m)
    expect(again.stderr).toMatch(/: mixed\/picture.png$/m)
    expect(again.stderr).toMatch(/^skipped mixed\/empty.md: /m)
    expect(again.stderr).toMatch(/^hint: `ks ingest … --format jsonl` lists every file$/m)
  })

  it('get a new job in the next ingest, which reports them as retried', async () => {
    const space = await newSpace()
    home.file('again/broken.png', BROKEN_PICTURE)
    home.file('again/full.md', '# Full\ntext\n')
    const jobs = async () => {
      const run = await home.ks(['ingest', 'again', '-s', space, '--format', 'jsonl', '--wait'])
      const records = run.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).data)
      return records.map(({ filename, status, retried, jobId }) => ({ filename, status, retried, jobId }))
    }
    const [first] = await jobs()
    const [second, kept] = await jobs()
    expect(first).toMatchObject({ filename: 'again/broken.png', status: 'failed', retried: undefined })
    expect(second).toMatchObject({ filename: 'again/broken.png', status: 'failed', retried: true })
    expect(second?.jobId).not.toBe(first?.jobId)
    expect(kept).toMatchObject({ filename: 'again/full.md', status: 'unchanged', retried: undefined })
    // Nothing is sent, only listed.
    const dry = await home.ks(['ingest', 'again', '-s', space, '--dry-run', '--format', 'table'])
    expect(dry.stdout).toBe('would ingest 2 files: 1 queued, 1 unchanged; 1 of them was retried\n')
  })

  it('do not include the files next to a file that is too large', async () => {
    const space = await newSpace()
    home.file('sizes/small.md', '# Small\nfits\n')
    home.file('sizes/large.md', `# Large\n${'word '.repeat(30_000)}`)
    home.file('sizes/zzz.md', '# Z\nfits too\n')
    const { code, records } = await ingest('sizes', space, '--wait')
    expect(code).toBe(3)
    expect(records.map((record) => record.status)).toEqual(['failed', 'published', 'published'])
    expect(records[0]?.reason).toContain('over the upload limit of 97.7 KiB')
  })

  it('cause exit 1 if no file is ingested', async () => {
    const space = await newSpace()
    home.file('bad/broken.png', BROKEN_PICTURE)
    expect((await ingest('bad', space, '--wait')).code).toBe(1)
  })

  it('do not include files above --max-size, which are skipped and reported', async () => {
    const space = await newSpace()
    const { code, records, stderr } = await ingest('sizes', space, '--max-size', '50K')
    expect(code).toBe(0)
    expect(records.find((record) => record.filename === 'sizes/large.md')).toMatchObject({
      status: 'skipped',
      reason: '146 KiB is over --max-size 50.0 KiB',
    })
    expect(stderr).toContain('skipped sizes/large.md: 146 KiB is over')
  })

  it.skipIf(process.getuid?.() === 0)('include files that the user cannot read', async () => {
    const space = await newSpace()
    chmodSync(home.file('locked/no.md', 'x'), 0)
    home.file('locked/yes.md', '# Yes\ntext\n')
    const { code, records } = await ingest('locked', space, '--wait')
    expect(code).toBe(3)
    expect(records[0]).toMatchObject({ status: 'failed', reason: 'permission denied' })
  })
})

describe('the input of an ingest', () => {
  it('can be a document on stdin with a given name', async () => {
    const space = await newSpace()
    const run = await home.ks(['ingest', '-', '--name', 'note.md', '--type', 'text/markdown', '-s', space, '--wait'], {
      stdin: '# From a pipe\nA piped sentence.\n',
    })
    expect([run.code, run.stdout.split('\t')[1]]).toEqual([0, 'note.md'])
    const cat = await home.ks(['fs', 'cat', '/sources/uploads/note.md', '-s', space])
    expect(cat.stdout).toContain('A piped sentence.')
    expect((await home.ks(['ingest', '-', '-s', space], { stdin: 'x' })).stderr).toContain('needs a name')
  })

  it('can be a NUL-separated list of files', async () => {
    const space = await newSpace()
    home.file('list/a b.md', '# A\ntext a\n')
    home.file('list/c.md', '# C\ntext c\n')
    const run = await home.ks(['ingest', '-0', '-', '-s', space, '--wait', '--json'], {
      stdin: 'list/a b.md\0list/c.md\0',
    })
    expect(JSON.parse(run.stdout).map((record: Shown) => record.filename)).toEqual(['list/a b.md', 'list/c.md'])
  })

  it('can have any valid file name', async () => {
    const space = await newSpace()
    const names = ['ünïcode ☃.md', 'quote\'"s.md', 'semi;colon.md', '%41.md', '日本語.md']
    for (const name of names) home.file(`names/${name}`, `# ${name}\ntext of ${name}\n`)
    const { states } = await ingest('names', space, '--wait')
    expect(states).toEqual(Object.fromEntries(names.map((name) => [`names/${name}`, 'published'])))
    expect(new Set(Object.values((await ingest('names', space)).states))).toEqual(new Set(['unchanged']))
  })

  it('excludes links that leave the folder, and reports them', async () => {
    const space = await newSpace()
    home.file('links/in.md', '# In\ntext\n')
    home.file('outside.md', 'secret')
    symlinkSync('../outside.md', join(home.dir, 'links', 'out.md'))
    const { states, stderr } = await ingest('links', space, '--wait')
    expect(states).toEqual({ 'links/in.md': 'published', 'links/out.md': 'skipped' })
    expect(stderr).toContain('skipped links/out.md: a symbolic link to outside of the folder')
  })

  it('leads to one event a line with --format jsonl', async () => {
    const space = await newSpace()
    const run = await home.ks(['ingest', 'a', '-s', space, '--format', 'jsonl'])
    const events = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events[0]).toEqual({
      event: 'ingest.file',
      data: { filename: 'a/one.md', status: 'queued', documentId: expect.any(String), jobId: expect.any(String) },
    })
  })
})

/** The response of a service without limits and without a list of skipped files. */
function saysNothingOfItself(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.url !== '/daemon/status' && request.url?.includes('/skipped-files') !== true) return false
  response.writeHead(404, { 'x-error-code': 'not-found' }).end('{"error":"there is no such route"}')
  return true
}

describe('an ingest into a failing service', () => {
  const spaceId = '0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e'
  beforeAll(() => {
    home.file('busy/x.md', 'text')
  })

  it('repeats requests when the service is busy, after its Retry-After', async () => {
    let uploads = 0
    const server = await startTestServer(async (request, response) => {
      const body = await readBody(request)
      if (saysNothingOfItself(request, response)) return
      if (request.url?.endsWith('/check') === true) {
        const { items } = JSON.parse(body.toString())
        const states = items.map((item: { filename: string }) => ({ filename: item.filename, status: 'new' }))
        response.end(JSON.stringify({ items: states }))
        return
      }
      uploads += 1
      if (uploads === 1) {
        response.writeHead(429, { 'x-error-code': 'capacity-exceeded', 'retry-after': '1' })
        response.end('{"error":"64 jobs are running already"}')
        return
      }
      response.writeHead(202)
      const asset = { id: spaceId, filename: 'busy/x.md' }
      response.end(JSON.stringify({ asset, compilationJob: { id: 'j', stage: 'queued' }, statusUrl: '/jobs/j' }))
    })
    const run = await home.ks(['ingest', 'busy', '-s', spaceId, '--url', server.url, '--json'], {
      env: { KS_TOKEN: 't' },
    })
    await server.end()
    expect([run.code, uploads, JSON.parse(run.stdout)[0].status]).toEqual([0, 2, 'queued'])
  })

  it('repeats nothing when the space is full: the files fail with the message of the service', async () => {
    const server = await startTestServer(async (request, response) => {
      await readBody(request)
      if (saysNothingOfItself(request, response)) return
      if (request.url?.endsWith('/check') === true) {
        response.end('{"items":[{"filename":"busy/x.md","status":"new"}]}')
        return
      }
      response.writeHead(429, { 'x-error-code': 'quota-exceeded' })
      response.end('{"error":"the space may hold 10 bytes"}')
    })
    const run = await home.ks(['ingest', 'busy', '-s', spaceId, '--url', server.url], { env: { KS_TOKEN: 't' } })
    await server.end()
    expect(run.code).toBe(7)
    expect(run.stderr).toContain('  the space may hold 10 bytes: busy/x.md')
  })

  it('ends at once with exit 4 if the token is refused', async () => {
    const server = await startTestServer(async (request, response) => {
      await readBody(request)
      response.writeHead(401, { 'x-error-code': 'unauthenticated' })
      response.end('{"error":"the token has expired"}')
    })
    const run = await home.ks(['ingest', 'busy', '-s', spaceId, '--url', server.url], { env: { KS_TOKEN: 't' } })
    await server.end()
    expect([run.code, run.stdout]).toEqual([4, ''])
    expect(run.stderr).toBe(
      `ks: ${server.url} refused the token: the token has expired\nhint: \`ks auth login --url ${server.url}\`\n`,
    )
  })

  it('ends at Ctrl-C with exit 130, and reports what was sent', async () => {
    const server = await startTestServer(async (request, response) => {
      await readBody(request)
      if (saysNothingOfItself(request, response)) return
      if (request.url?.endsWith('/check') === true) response.end('{"items":[{"filename":"busy/x.md","status":"new"}]}')
      // The upload never gets a response.
    })
    const child = execa(process.execPath, [KS, 'ingest', 'busy', '-s', spaceId, '--url', server.url], {
      cwd: home.dir,
      env: { ...plainEnv(), ...home.env, KS_TOKEN: 't' },
      stdio: ['ignore', 'ignore', 'pipe'],
      buffer: false,
      reject: false,
      extendEnv: false,
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const exited = once(child, 'exit')
    for (let wait = 0; wait < 200 && server.seen.length < 3; wait++) await sleep(50)
    child.kill('SIGINT')
    const [code] = await exited
    await server.end()
    expect(code).toBe(130)
    expect(stderr).toMatch(/^ks: interrupted: 0 files sent, 1 not sent; the service goes on reading them$/m)
  })
})

describe('a file that is replaced by a file of the same size', () => {
  it('gets uploaded by the next ingest', async () => {
    const space = await newSpace()
    const path = home.file('moving/x.md', '# X\nfirst\n')
    await ingest('moving', space, '--wait')
    renameSync(path, `${path}.old`)
    rmSync(`${path}.old`)
    home.file('moving/x.md', '# X\nother\n')
    expect((await ingest('moving', space, '--wait')).states).toEqual({ 'moving/x.md': 'published' })
    expect(readFileSync(path, 'utf8')).toContain('other')
  })
})

describe('an ingest without --space', () => {
  it('creates a space named after the folder if there is none, uses a single space, and is refused with several', async () => {
    const fresh = cliHome()
    try {
      fresh.file('Field notes/x.md', '# X\ntext about larks\n')
      const none = await fresh.ks(['docs'])
      expect([none.code, none.stderr]).toEqual([
        5,
        'ks: there is no space yet\nhint: `ks ingest PATH` creates the first one\n',
      ])
      const first = await fresh.ks(['ingest', 'Field notes', '--wait'])
      expect(first.code).toBe(0)
      expect(first.stderr).toContain('into space field-notes\n')
      const again = await fresh.ks(['ingest', 'Field notes', '--wait', '--json'])
      expect(JSON.parse(again.stdout)[0].status).toBe('unchanged')
      expect((await fresh.ks(['query', 'larks', '-q'])).stdout).toContain('larks')
      expect((await fresh.ks(['spaces', 'create', 'other'])).code).toBe(0)
      const several = await fresh.ks(['ingest', 'Field notes'])
      expect([several.code, several.stderr.split('\n')[0]]).toEqual([2, 'ks: no space given, but there are several'])
    } finally {
      await fresh.end()
    }
  })
})
