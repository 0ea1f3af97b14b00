import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CFB, utils, write } from '@e965/xlsx'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { hasNoCycles } from '../../../src/engine/readers/office/compound-chains.js'
import { failureOf, read } from './read.js'

function oldWorkbook(): Buffer {
  const workbook = utils.book_new()
  const rows = [
    ['a', 'b'],
    [1, 2.5],
  ]
  utils.book_append_sheet(workbook, utils.aoa_to_sheet(rows), 'Sheet1')
  return write(workbook, { type: 'buffer', bookType: 'biff8' })
}

function message(): Buffer {
  const file = CFB.utils.cfb_new()
  CFB.utils.cfb_add(file, '/__substg1.0_0037001E', Buffer.from('Subject'))
  CFB.utils.cfb_add(file, '/__substg1.0_1000001E', Buffer.from('Words. '.repeat(2000)))
  return CFB.write(file, { type: 'buffer' })
}

/** The file offset of a sector's entry in the only allocation table of a small file. */
const entry = (bytes: Buffer, sector: number): number => (bytes.readInt32LE(76) + 1) * 512 + sector * 4

describe('compound files (XLS and MSG)', () => {
  it('fail as malformed if their sector chains contain a cycle', async () => {
    for (const bytes of [oldWorkbook(), message()]) {
      expect(hasNoCycles(bytes)).toBe(true)
      const looped = Buffer.from(bytes)
      looped.writeInt32LE(1, entry(bytes, 2))
      looped.writeInt32LE(2, entry(bytes, 1))
      expect(hasNoCycles(looped)).toBe(false)
      expect(await failureOf(read('loop.xls', looped))).toEqual({
        code: 'malformed',
        message: 'loop.xls is damaged: its sector chains contain a cycle',
      })
    }
  })

  it('may consist of arbitrary bytes: the check for cycles ends without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 3000 }), fc.constantFrom(9, 12, 0), (bytes, shift) => {
        const file = Buffer.from(bytes)
        if (file.length > 32) file.writeUInt16LE(shift, 30)
        expect(typeof hasNoCycles(file)).toBe('boolean')
      }),
    )
  })

  it('A44: are read or fail without a crash if random bytes are changed', { timeout: 240_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ks-compound-'))
    const compiler = createCompiler({ limits: { processorMs: 5000, memoryBytes: 256 * 1024 * 1024 } })
    try {
      const changes = fc.array(fc.tuple(fc.nat(100_000), fc.nat(255)), { minLength: 1, maxLength: 20 })
      const requests = fc.sample(changes, { seed: 7, numRuns: 60 }).flatMap((edits, index) =>
        [oldWorkbook(), message()].map((bytes, kind) => {
          for (const [at, value] of edits) bytes[at % bytes.length] = value
          const filename = `${index}.${kind === 0 ? 'xls' : 'msg'}`
          writeFileSync(join(folder, filename), bytes)
          return { path: join(folder, filename), filename }
        }),
      )
      const results = await compiler.compile(requests)
      expect(results.length).toBe(requests.length)
      expect(results.some((result) => result.ok)).toBe(true)
      expect(results.filter((result) => !result.ok && result.failure.code === 'crashed')).toEqual([])
    } finally {
      await compiler.close()
      removeFolder(folder)
    }
  })
})
