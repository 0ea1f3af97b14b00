/** Writes `src/engine/search/dots.wasm.ts` from the WebAssembly text in the same folder. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import wabt from 'wabt'
import { ROOT } from './build.js'

const TEXT = 'src/engine/search/dots.wat'
const MODULE = 'src/engine/search/dots.wasm.ts'

/**
 * @param {string} text WebAssembly as text
 * @returns {Promise<string>} the source of a module with its binary form
 * @throws Error with line and column if the text is not a valid module
 */
export async function compileModule(text) {
  const { parseWat } = await wabt()
  const parsed = parseWat(TEXT, text, { simd: true })
  try {
    parsed.resolveNames()
    parsed.validate()
    const { buffer } = parsed.toBinary({ canonicalize_lebs: true })
    const binary = Buffer.from(buffer).toString('base64')
    return `/** \`dots.wat\` in binary form, as base64. Made by \`node scripts/wasm.js\`. */\nexport const DOTS_WASM =\n  '${binary}'\n`
  } finally {
    parsed.destroy()
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(join(ROOT, MODULE), await compileModule(readFileSync(join(ROOT, TEXT), 'utf8')))
}
