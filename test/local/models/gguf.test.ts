import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { GgufError, readGguf } from '../../../src/local/models/gguf.js'
import { buildEmbedderGguf, buildGguf } from '../../helpers/gguf.js'

const folder = mkdtempSync(join(tmpdir(), 'ks-gguf-'))
afterAll(() => removeFolder(folder))

function file(bytes: Buffer): string {
  const path = join(folder, 'model.gguf')
  writeFileSync(path, bytes)
  return path
}

it('reads architecture, licence, window and pooling from the header of a GGUF file', () => {
  expect(readGguf(file(buildEmbedderGguf()))).toEqual({
    architecture: 'bert',
    license: 'apache-2.0',
    contextTokens: 512,
    pooling: 'mean',
    isBidirectional: true,
  })
})

it('reads a GGUF header whose vocabulary spans several chunks of the file', () => {
  const words = Array.from({ length: 200_000 }, (_, at) => `word ${at}`)
  const bytes = buildGguf({ 'general.architecture': 'qwen3', tokens: words, 'qwen3.pooling_type': 4 })
  expect(bytes.length).toBeGreaterThan(2 * 1024 * 1024)
  expect(readGguf(file(bytes))).toMatchObject({ architecture: 'qwen3', pooling: 'rank', isBidirectional: false })
})

it.each([
  ['another format', Buffer.from('<html>not found</html>'), 'is no GGUF file'],
  ['a file that ends within its header', buildEmbedderGguf().subarray(0, 80), 'ends within its header'],
  ['a version without a reader', Buffer.from('GGUF\x09\0\0\0'), 'has version 9 of GGUF'],
  [
    'a length that no file has',
    Buffer.concat([buildEmbedderGguf().subarray(0, 16), Buffer.alloc(8, 255)]),
    'has a length',
  ],
  ['a model without an architecture', buildGguf({ 'general.name': 'x' }), 'names no architecture'],
])('refuses %s as a model', (_, bytes, reason) => {
  expect(() => readGguf(file(bytes))).toThrow(GgufError)
  expect(() => readGguf(file(bytes))).toThrow(reason)
})
