import { createHash } from 'node:crypto'
import { mkdtempSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { HashCache, hashFile } from '../../src/cli/ingest/hash-cache.js'
import { formatSummary, groupByReason, RecordPrinter } from '../../src/cli/ingest/records.js'
import { splitIntoBatches } from '../../src/cli/ingest/upload.js'
import type { IngestRecord } from '../../src/cli/json-output/documents.js'
import { Output } from '../../src/cli/output.js'

const base = mkdtempSync(join(tmpdir(), 'ks-parts-'))
afterAll(() => removeFolder(base))

const MIB = 1024 * 1024

describe('upload requests', () => {
  it('contain every file once and in order, at most 64 files or 16 MiB, and large files alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 * MIB }), { maxLength: 300 }), (sizes) => {
        const files = sizes.map((size, index) => ({ index, size, path: '', filename: String(index) }))
        const all = splitIntoBatches(files)
        expect(
          all
            .flat()
            .map((file) => file.index)
            .sort((a, b) => a - b),
        ).toEqual(files.map((file) => file.index))
        for (const batch of all) {
          expect(batch.length).toBeLessThanOrEqual(64)
          const bytes = batch.reduce((sum, file) => sum + file.size, 0)
          if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(16 * MIB)
        }
      }),
    )
  })
})

describe('cached file hashes of an ingest', () => {
  const path = join(base, 'file')
  const stat = () => statSync(path, { bigint: true })
  const later = Date.now() + 60_000

  it('stay valid while size and times of the file stay, and survive a save', () => {
    writeFileSync(path, 'one')
    const cache = new HashCache(base, 'key')
    expect(cache.find(path, stat())).toBeUndefined()
    cache.add(path, stat(), 'aa', later)
    cache.save()
    expect(new HashCache(base, 'key').find(path, stat())).toBe('aa')
    expect(new HashCache(base, 'other').find(path, stat())).toBeUndefined()
  })

  it('become invalid when the bytes of a file change although its modification time is reset', () => {
    const before = stat()
    writeFileSync(path, 'two')
    utimesSync(path, before.atime, before.mtime)
    expect(new HashCache(base, 'key').find(path, stat())).toBeUndefined()
  })

  it('exclude a file that changed just now, whose next change might not be visible', () => {
    writeFileSync(path, 'three')
    const cache = new HashCache(base, 'fresh')
    cache.add(path, stat(), 'aa', Number(stat().mtimeMs) + 5)
    cache.save()
    expect(new HashCache(base, 'fresh').find(path, stat())).toBeUndefined()
  })

  it('become empty, not wrong, when their file is damaged', () => {
    const cache = new HashCache(base, 'damaged')
    cache.add(path, stat(), 'aa', later)
    cache.save()
    const { path: file } = cache
    writeFileSync(file, '{"version":1,"files":{"x":[1,2]')
    expect(new HashCache(base, 'damaged').find(path, stat())).toBeUndefined()
  })

  it('equal the SHA-256 of small and large files', async () => {
    writeFileSync(path, 'abc')
    expect(await hashFile(path, 3, undefined)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    writeFileSync(path, Buffer.alloc(2 * MIB, 'a'))
    const all = createHash('sha256')
      .update(Buffer.alloc(2 * MIB, 'a'))
      .digest('hex')
    expect(await hashFile(path, 2 * MIB, undefined)).toBe(all)
  })
})

describe('result records of an ingest', () => {
  const record = (filename: string, reason: string): IngestRecord => ({ filename, status: 'failed', reason })

  it('appear in the order of the files, in whatever order the files are finished', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), (order) => {
        const lines: string[] = []
        const stream = {
          write: (text: string) => {
            lines.push(text)
            return true
          },
        }
        const options = { format: 'tsv' as const, header: true, truncate: true, quiet: false }
        const printer = new RecordPrinter(new Output(options, { out: stream, err: stream, env: {} }))
        for (const index of order) printer.set(index, { filename: `f${index}`, status: 'queued' })
        expect(lines).toEqual([0, 1, 2, 3, 4, 5].map((index) => `queued\tf${index}\t\t\n`))
      }),
    )
  })

  it('form groups by reason, the largest first, with at most five names each', () => {
    const many = [1, 2, 3, 4, 5, 6, 7].map((n) => record(`d/${n}.doc`, `d/${n}.doc is too old`))
    expect(groupByReason([record('x.pdf', 'x.pdf is encrypted'), ...many])).toEqual([
      '  is too old: d/1.doc, d/2.doc, d/3.doc, d/4.doc, d/5.doc, and 2 more',
      '  is encrypted: x.pdf',
    ])
  })

  it('lead to a summary in a single line', () => {
    expect(formatSummary([])).toBe('nothing to ingest')
    const records: IngestRecord[] = [
      { filename: 'a', status: 'unchanged' },
      { filename: 'b', status: 'published' },
      { filename: 'c', status: 'unchanged' },
    ]
    expect(formatSummary(records)).toBe('3 files: 1 published, 2 unchanged')
  })
})
