import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createFileLedger } from '../../../src/cli/watch/file-ledger.js'
import type { LedgerEntry } from '../../../src/cli/watch/ledger.js'
import { Client } from '../../../src/client/client.js'
import { startTestServer, type TestServer } from '../../helpers/cli.js'

let dir = ''
let server: TestServer
let client: Client
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ks-ledger-'))
  server = await startTestServer((_request, response) => response.end(JSON.stringify({ items: HELD })))
  client = new Client({ url: server.url })
})
afterEach(async () => {
  client.close()
  await server.end()
  removeFolder(dir)
})

/** the state in the service of three files, in the order of the ledger */
const HELD = [
  { filename: 'n/a.md', status: 'unchanged', documentId: 'doc-a' },
  { filename: 'n/b.md', status: 'changed', documentId: 'doc-b' },
  { filename: 'n/c.md', status: 'new' },
]

const entry = (path: string): LedgerEntry => ({
  path,
  filename: `n/${path}`,
  fingerprint: '1-2-3-4',
  device: '7',
  size: 1,
  sha256: path.padEnd(64, '0'),
  documentSha: undefined,
  documentIds: [],
})

test('entries of the watch ledger are loaded again by the next watch, with the state of their documents', async () => {
  const file = join(dir, 'watch', 'x.jsonl')
  const first = createFileLedger(file, 'space')
  expect(await first.load(client)).toEqual([])
  await first.claim(client, ['a.md', 'b.md', 'c.md', 'd.md'].map(entry))
  await first.forget(client, [entry('d.md')])
  const [a, b, c, ...rest] = await createFileLedger(file, 'space').load(client)
  expect(rest).toEqual([])
  expect(a).toEqual({ ...entry('a.md'), documentSha: entry('a.md').sha256, documentIds: ['doc-a'] })
  expect(b?.documentSha).not.toBe(b?.sha256)
  expect(b?.documentIds).toEqual(['doc-b'])
  expect(c).toEqual(entry('c.md'))
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(3)
})

test('a truncated line of the watch ledger does not affect the lines around it', async () => {
  const file = join(dir, 'watch', 'x.jsonl')
  const first = createFileLedger(file, 'space')
  await first.load(client)
  await first.claim(client, [entry('a.md')])
  appendFileSync(file, '{"path":"b.md","filena')
  const second = createFileLedger(file, 'space')
  expect((await second.load(client)).map(({ path }) => path)).toEqual(['a.md'])
  await second.claim(client, [entry('c.md')])
  expect((await createFileLedger(file, 'space').load(client)).map(({ path }) => path)).toEqual(['a.md', 'c.md'])
})
