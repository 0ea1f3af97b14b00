import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'

/**
 * Creates files in a folder as fast as possible and reports when there are many; ends half a second later, or when the
 * folder is gone.
 */
const WRITER = `
const { writeFileSync } = require('node:fs')
let until = Infinity
try {
  for (let written = 0; Date.now() < until; written++) {
    writeFileSync(process.argv[1] + '/' + written, '')
    if (written !== 500) continue
    console.log('many')
    until = Date.now() + 500
  }
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
`

test('removeFolder removes a folder into which an ending process still writes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ks-removed-'))
  const writer = spawn(process.execPath, ['-e', WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(writer, 'exit')
  await once(writer.stdout, 'data')
  removeFolder(folder)
  await exit
  expect(existsSync(folder)).toBe(false)
})

test('removeFolder accepts a missing folder', () => {
  expect(() => removeFolder(join(tmpdir(), 'ks-removed', 'never'))).not.toThrow()
})
