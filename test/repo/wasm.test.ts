import { expect, test } from 'vitest'
import { compileModule } from '../../scripts/wasm.js'
import { readFile } from './tree.js'

test('dots.wasm.ts equals the compiled dots.wat', async () => {
  const made = await compileModule(readFile('src/engine/search/dots.wat'))
  expect(made, 'run `node scripts/wasm.js`').toBe(readFile('src/engine/search/dots.wasm.ts'))
})

test('compiling an invalid WebAssembly text fails with line and column', async () => {
  const add = '(module (func (result i32) (i32.add (i32.const 1) (i64.const 1))))'
  await expect(compileModule(add)).rejects.toThrow(/dots\.wat:1:\d+: error: type mismatch/)
})
