import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { execaSync } from 'execa'
import { afterEach, expect, test } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { allCandidates, allIssues, repairAll, spaceWith } from './space.js'

const NAME = 'f'.repeat(64)
let home: TestEngine | undefined
const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await home?.end()
  home = undefined
})

/** Creates one of each kind of file at a path. */
const KINDS: Record<string, (path: string) => void | Promise<void>> = {
  file: (path) => writeFileSync(path, 'of somebody else'),
  folder: (path) => {
    mkdirSync(join(path, 'below'), { recursive: true })
  },
  pipe: (path) => {
    execaSync('mkfifo', [path])
  },
  'link that leads nowhere': (path) => symlinkSync('/nonexistent/place', path),
  'link to itself': (path) => symlinkSync(path, path),
  socket: (path) =>
    new Promise<void>((resolve) => {
      // The path of a socket is limited to 100 characters: it is created elsewhere and moved.
      const short = join(dirname(dirname(dirname(dirname(path)))), `s${servers.length}`)
      const server = createServer()
      servers.push(server)
      server.listen(short, () => {
        execaSync('mv', [short, path])
        resolve()
      })
    }),
}

async function started(): Promise<{ at: TestEngine; id: string; tenant: string }> {
  const at = await startEngine()
  home = at
  const { id } = await spaceWith(at.engine, 'mine', 3)
  const [tenant = ''] = readdirSync(join(at.dataDir, 'objects')).filter((name) => /^[0-9a-f]{24}$/.test(name))
  return { at, id, tenant }
}

/** The text index works and is complete. */
async function answers(at: TestEngine, id: string): Promise<void> {
  await until(async () => {
    const found = await at.engine.queries.search(ADA, id, {
      query: 'zebramine1',
      limit: 5,
      activeDocumentIds: [],
      activeEntityIds: [],
    })
    return JSON.stringify(found.items).includes('zebramine1')
  })
  const asked = await ask(at.engine, ADA, id, 'What is said about zebramine1?')
  expect(asked.error).toBeUndefined()
}

test('foreign files in the object store are reported one by one, never removed, and disturb no query', async () => {
  const { at, id, tenant } = await started()
  const objects = join(at.dataDir, 'objects')
  const placed: string[] = []
  for (const [place, [kind, put]] of Object.entries(KINDS).entries()) {
    for (const folder of [tenant, `${tenant}/sha256`, `${tenant}/sha256/ff`]) {
      const key = folder.endsWith('ff') ? `${folder}/${NAME.slice(1)}${place}` : `${folder}/${kind}`
      mkdirSync(dirname(join(objects, key)), { recursive: true })
      await put(join(objects, key))
      placed.push(key)
    }
    await put(join(objects, `at the top ${place}`))
    await put(join(objects, 'tmp', `0199d9c9-0000-7000-8000-00000000000${place}`))
  }
  // A file under a valid object name is an unreferenced object, but too young to report.
  const named = placed.filter((key) => !(key.includes('/ff/') && lstatSync(join(objects, key)).isFile()))
  await at.reopen()
  const stray = (await allIssues(at.engine, id, 'raw-objects')).filter(({ code }) => code === 'unknown-file')
  expect(stray.map(({ target }) => target.objectKey).sort()).toEqual(named.sort())
  expect(await allCandidates(at.engine, id)).toEqual([])
  const forged = stray.map(({ target }, place) => ({
    candidateType: 'staged-object' as const,
    count: 1,
    estimatedBytes: 1,
    reason: 'asked for all the same',
    target,
    idempotencyKey: `gc-${place}`,
  }))
  expect(await at.engine.integrity.gcExecute(ADA, id, forged)).toMatchObject({ deleted: 0 })
  await repairAll(at.engine, id)
  for (const key of placed) expect(lstatSync(join(objects, key)), key).toBeDefined()
  await ingest(at.engine, ADA, id, { 'later.md': '# Later\n\nzebralater\n' })
  await answers(at, id)
})

test('a file in the way of an object folder fails the upload with upload-failed', async () => {
  const { at, id, tenant } = await started()
  for (let folder = 0; folder < 256; folder++) {
    const path = join(at.dataDir, 'objects', tenant, 'sha256', folder.toString(16).padStart(2, '0'))
    if (!existsSync(path)) writeFileSync(path, 'in the way')
  }
  const texts = Object.fromEntries(
    Array.from({ length: 8 }, (_, place) => [`new${place}.md`, `# New\n\nnumber ${place}`]),
  )
  await expect(ingest(at.engine, ADA, id, texts)).rejects.toMatchObject({ code: 'upload-failed' })
  await answers(at, id)
})

const DAMAGES: [string, (index: string) => void | Promise<void>][] = [
  ['is a file', (index) => replaced(index, (path) => writeFileSync(path, 'a file'))],
  ['is a link', (index) => replaced(index, (path) => symlinkSync('/nonexistent/place', path))],
  ['is a pipe', (index) => replaced(index, (path) => void execaSync('mkfifo', [path]))],
  ['has a file for its text index', (index) => replaced(join(index, 'tantivy'), (path) => writeFileSync(path, 'x'))],
  ...['meta.json', 'watermark.json', '.managed.json', '.tantivy-writer.lock'].flatMap(
    (name): [string, (index: string) => void | Promise<void>][] => [
      [`has a folder for ${name}`, (index) => replaced(join(index, 'tantivy', name), (path) => mkdirSync(path))],
      [
        `has a pipe for ${name}`,
        (index) => replaced(join(index, 'tantivy', name), (path) => void execaSync('mkfifo', [path])),
      ],
      [`lacks ${name}`, (index) => rmSync(join(index, 'tantivy', name), { force: true })],
      [`has an empty ${name}`, (index) => replaced(join(index, 'tantivy', name), (path) => writeFileSync(path, ''))],
    ],
  ),
  ['has a segment cut short', (index) => truncateSync(segmentOf(index), 5)],
  ['has a pipe for a segment', (index) => replaced(segmentOf(index), (path) => void execaSync('mkfifo', [path]))],
  ['lacks a segment', (index) => rmSync(segmentOf(index))],
]

function segmentOf(index: string): string {
  const folder = join(index, 'tantivy')
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.term')) ?? '')
}

function replaced(path: string, put: (path: string) => void): void {
  removeFolder(path)
  put(path)
}

test('foreign content at the path of a search index is moved aside, and the index is rebuilt', {
  timeout: 300_000,
}, async () => {
  const { at, id } = await started()
  await answers(at, id)
  for (const [what, damage] of DAMAGES) {
    await at.engine.close()
    await damage(join(at.dataDir, 'indexes', id))
    writeFileSync(join(at.dataDir, 'indexes', 'notes.txt'), 'of somebody else')
    at.engine = await reopened(at.dataDir)
    await answers(at, id)
    const wrong = (await allIssues(at.engine, id, 'references')).filter(({ type }) => type === 'stale-projection')
    expect(wrong, `the index ${what}`).toEqual([])
  }
  expect(existsSync(join(at.dataDir, 'indexes', 'notes.txt'))).toBe(true)
})

async function reopened(dataDir: string) {
  const { openEngine } = await import('../../../../src/engine/index.js')
  const { engineOptions } = await import('../../../helpers/engine.js')
  return openEngine(engineOptions(dataDir))
}

test('a search index copied from another space is not used', async () => {
  const { at, id } = await started()
  const other = await spaceWith(at.engine, 'other', 3)
  await answers(at, id)
  await at.engine.close()
  const indexes = join(at.dataDir, 'indexes')
  rmSync(join(indexes, id), { recursive: true })
  cpSync(join(indexes, other.id), join(indexes, id), { recursive: true })
  at.engine = await reopened(at.dataDir)
  const found = await at.engine.queries.search(ADA, id, {
    query: 'zebraother1',
    limit: 20,
    activeDocumentIds: [],
    activeEntityIds: [],
  })
  expect(JSON.stringify(found.items)).not.toContain('zebraother1')
  await answers(at, id)
  const wrong = (await allIssues(at.engine, id, 'references', true)).filter(({ severity }) => severity !== 'info')
  expect(wrong).toEqual([])
})
