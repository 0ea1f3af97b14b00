import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { hostilePdfs } from './hostile-pdfs.js'
import { fixturePath, textOf } from './read.js'

const MIB = 1024 * 1024
const LIMIT_MS = 8_000
/** The limit counts processor time, and a file that exceeds it is read once more. */
const LONG_MS = 240_000

const folder = mkdtempSync(join(tmpdir(), 'ks-bombs-'))
const compiler = createCompiler({ limits: { processorMs: LIMIT_MS, memoryBytes: 512 * MIB } })
afterAll(async () => {
  await compiler.close()
  removeFolder(folder)
})

describe('A38: PDF files that inflate, loop or claim too much', () => {
  const files = hostilePdfs()

  it.each(Object.keys(files))('stay within the limits of time and memory: %s', { timeout: LONG_MS }, async (name) => {
    const path = join(folder, 'a.pdf')
    writeFileSync(path, files[name] ?? '')
    delete files[name]
    const before = process.memoryUsage().rss
    const [result] = await compiler.compile([{ path, filename: 'a.pdf' }])
    // The file fails, or its small real content is read; both within the limits.
    expect(
      result?.ok === true ? (await textOf(result.document)).length < 1000 : result?.failure.message.length,
    ).toBeTruthy()
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * MIB)
    const [next] = await compiler.compile([{ path: fixturePath('fake-memo.pdf'), filename: 'fake-memo.pdf' }])
    expect(next?.ok).toBe(true)
  })
})
