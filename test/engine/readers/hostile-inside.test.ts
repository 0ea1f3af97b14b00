import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CFB } from '@e965/xlsx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import type { CompileResult, ContainedSink } from '../../../src/engine/store/compiled.js'
import { makeMail, makeTar } from '../library/documents/inside-files.js'
import { makeZip } from './read.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-inside-'))
})
afterAll(() => removeFolder(folder))

/** Deterministic pseudorandom numbers from 0 to 1. */
function randomly(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** A copy with changed, removed, repeated or truncated bytes. */
function mutate(bytes: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * bytes.length)
  const length = 1 + Math.floor(random() * 64)
  const kind = Math.floor(random() * 5)
  if (kind === 0) return bytes.subarray(0, at)
  if (kind === 1) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
  if (kind === 2) return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)])
  const changed = Buffer.from(bytes)
  const changes = kind === 3 ? 1 : 20
  for (let change = 0; change < changes; change++)
    changed[Math.floor(random() * bytes.length)] = random() < 0.3 ? 0xff : Math.floor(random() * 256)
  return changed
}

/** Reads files in a reading process. @returns results, process ids, and the number of bytes of contained files */
async function readAll(files: readonly (readonly [string, Buffer])[]) {
  const compiler = createCompiler()
  const pids = new Set<number>()
  let bytes = 0
  const inside: ContainedSink = {
    begin() {},
    async write(_place, piece) {
      bytes += piece.length
      for (const pid of compiler.pids()) pids.add(pid)
    },
    async end() {},
  }
  try {
    const requests = files.map(([filename, content]) => {
      const path = join(folder, filename)
      writeFileSync(path, content)
      return { path, filename, depth: 0 }
    })
    const results = await compiler.compile(requests, undefined, { containedSink: inside })
    return { results, pids, bytes }
  } finally {
    await compiler.close()
  }
}

const codes = (results: readonly CompileResult[]) =>
  new Set(results.map((result) => (result.ok ? 'ok' : result.failure.code)))

const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ')
const parts = [
  { name: 'a.md', content: `# A\n\n${words}` },
  { name: 'folder/b.csv', content: 'a,b\n1,2\n' },
  { name: 'c.zip', content: makeZip([{ name: 'd.txt', content: words }]) },
]
const attached = parts.map(({ name, content }) => ({ name, content }))

const KINDS: readonly (readonly [string, () => Promise<Buffer> | Buffer])[] = [
  ['zip', () => makeZip(parts)],
  ['tar', () => makeTar(parts)],
  ['tgz', async () => gzipSync(await makeTar(parts), { level: 1 })],
  ['eml', () => makeMail('Trip', words, attached)],
  [
    'mbox',
    () =>
      Buffer.concat(
        [1, 2, 3].map((number) =>
          Buffer.concat([
            Buffer.from('From a@b.c Tue Mar  3 10:00:00 2026\n'),
            makeMail(`Mail ${number}`, words, attached),
            Buffer.from('\n'),
          ]),
        ),
      ),
  ],
  [
    'msg',
    () => {
      const file = CFB.utils.cfb_new()
      CFB.utils.cfb_add(file, '/__substg1.0_0037001F', Buffer.from('Trip', 'utf16le'))
      CFB.utils.cfb_add(file, '/__substg1.0_1000001F', Buffer.from(words, 'utf16le'))
      CFB.utils.cfb_add(file, '/__attach_version1.0_#00000000/__substg1.0_3707001F', Buffer.from('a.md', 'utf16le'))
      CFB.utils.cfb_add(file, '/__attach_version1.0_#00000000/__substg1.0_37010102', Buffer.from(words))
      return CFB.write(file, { type: 'buffer' })
    },
  ],
]

describe('two hundred damaged archives and mails', () => {
  it.each(KINDS)(
    'each become a document or fail with a reason, in one reading process (format: %s)',
    async (kind, make) => {
      const whole = await make()
      const random = randomly(kind.length + whole.length)
      const files = Array.from({ length: 200 }, (_, index) => [`${index}.${kind}`, mutate(whole, random)] as const)
      const { results, pids } = await readAll(files)
      expect(results).toHaveLength(200)
      for (const code of codes(results))
        expect(['ok', 'empty', 'malformed', 'unsupported-type', 'encrypted', 'limit-exceeded']).toContain(code)
      for (const result of results) if (!result.ok) expect(result.failure.message).not.toBe('')
      expect(pids.size).toBeLessThanOrEqual(1)
    },
    120_000,
  )
})

describe('archive bombs', () => {
  it('A35: release less than 64 MiB of contained files, as zip, tar, gzip or bombs in a zip', async () => {
    const zeros = Buffer.alloc(64 * 1024 * 1024)
    const bomb = gzipSync(zeros)
    const layer = makeZip(Array.from({ length: 16 }, (_, index) => ({ name: `lib ${index}.zip`, content: bomb })))
    const liar = makeZip([{ name: 'a', content: zeros, claimedSize: 10 }])
    const { results, bytes } = await readAll([
      ['zeros.zip', makeZip([{ name: 'zeros', content: zeros }])],
      ['zeros.tar.gz', gzipSync(await makeTar([{ name: 'zeros', content: zeros }]))],
      ['zeros.gz', bomb],
      ['liar.zip', liar],
      ['layers.zip', layer],
    ])
    expect(results.map((result) => (result.ok ? 'ok' : result.failure.code))).toEqual([
      'limit-exceeded',
      'limit-exceeded',
      'limit-exceeded',
      'limit-exceeded',
      'ok',
    ])
    // Bytes that a stream gives before it exceeds its limit.
    expect(bytes).toBeLessThan(64 * 1024 * 1024)
  }, 120_000)
})
