import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { pdfOfPages } from './table-pdf.js'

const folder = mkdtempSync(join(tmpdir(), 'ks-broken-promises-'))
afterAll(() => removeFolder(folder))

/**
 * A PDF with a broken object table, one page that is no object and one with a wrong number: pdf.js rejects promises
 * that nothing awaits.
 */
function leavesPromises(): Buffer {
  const whole = pdfOfPages([[{ at: [80, 700], text: 'tin' }], [{ at: [80, 700], text: 'lead' }]]).toString('latin1')
  const broken = whole
    .replace('\n4 0 obj', '\n4x0 obj')
    .replace('\n6 0 obj', '\n6 2 obj')
    .replace(/\n0000(\d{6}) 00000 n \ntrailer/, '\n0000x$1 00000 n \ntrailer')
  return Buffer.from(broken, 'latin1')
}

it('a damaged PDF that makes pdf.js reject unawaited promises fails as empty, and its reading process survives', {
  timeout: 240_000,
}, async () => {
  const compiler = createCompiler()
  const path = join(folder, 'a.pdf')
  writeFileSync(path, leavesPromises())
  const request = { path, filename: 'a.pdf' }
  const [first] = await compiler.compile([request])
  const pids = compiler.pids()
  const [second] = await compiler.compile([request])
  expect(compiler.pids()).toEqual(pids)
  await compiler.close()
  for (const result of [first, second])
    expect(result).toMatchObject({ ok: false, failure: { code: 'empty', message: expect.stringContaining('a.pdf') } })
})
