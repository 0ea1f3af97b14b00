import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { forkReader } from '../../../src/engine/readers/child-handle.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { textOf } from './read.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ks-child-handle-')))
const compiler = createCompiler()
afterAll(async () => {
  await compiler.close()
  removeFolder(folder)
})

describe('the reading process', { timeout: 60_000 }, () => {
  it('reads files of the program and of its allowed folders, and no other file', async () => {
    const own = join(folder, 'own')
    mkdirSync(own)
    const secret = join(folder, 'signing.key')
    writeFileSync(secret, 'the key')
    writeFileSync(join(own, 'data'), 'language data')
    const paths = [join(own, 'data'), secret, '/etc/passwd', `/proc/${process.pid}/environ`, '/proc/self/environ']
    writeFileSync(
      join(own, 'entry.mjs'),
      `import { readFileSync } from 'node:fs'
       const tell = (path) => { try { readFileSync(path); return 'read' } catch (error) { return error.code } }
       process.send(${JSON.stringify(paths)}.map(tell))`,
    )
    const child = forkReader(pathToFileURL(join(own, 'entry.mjs')), {
      heapMib: 64,
      stderr: 'ignore',
      folders: [own],
      flags: [],
    })
    const found = await new Promise((resolve, reject) => {
      child.once('message', resolve)
      child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
    })
    child.kill('SIGKILL')
    const denied = 'ERR_ACCESS_DENIED'
    expect(found).toEqual(['read', denied, denied, denied, denied])
  })

  it('receives a file larger than one IPC message completely, and 100 small files with their own bytes', async () => {
    const large = join(folder, 'large.txt')
    const line = 'All ferries sail at nine. '
    writeFileSync(large, line.repeat(150_000))
    const [result] = await compiler.compile([{ path: large, filename: 'large.txt' }])
    expect(result?.ok && (await textOf(result.document)).split('ferries').length - 1).toBe(150_000)
    const requests = Array.from({ length: 100 }, (_, index) => {
      const path = join(folder, `small-${index}.txt`)
      writeFileSync(path, `Ferry number ${index} sails.`)
      return { path, filename: `small-${index}.txt` }
    })
    const results = await compiler.compile([...requests, { path: join(folder, 'absent.txt'), filename: 'absent.txt' }])
    const texts = await Promise.all(
      results.map(async (one) => (one.ok ? await textOf(one.document) : one.failure.message)),
    )
    expect(texts).toEqual([
      ...requests.map((_, index) => `Ferry number ${index} sails.`),
      'absent.txt cannot be opened: ENOENT',
    ])
  })
})
