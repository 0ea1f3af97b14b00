/**
 * Joins what answers a shell that completes, of `ks` and of `kchat`, into a bundle for each: nothing of the programs
 * themselves, since who presses Tab waits for every file and every module (`bin/complete.js`).
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { importsOfLoader, lazyBuiltins } from './lazy-requires.js'
import { placesOfModules } from './places-of-modules.js'

/** Folders of the bundles, each with the module that answers. */
export const COMPLETERS = {
  'complete-ks': join(ROOT, 'dist', 'cli', 'complete.js'),
  'complete-kchat': join(ROOT, 'dist', 'kchat', 'complete.js'),
}

/** what a daemon at hand is asked with; the client for other services stays apart */
const ALWAYS = /dist[\\/](cli|kchat|local|contract|lib[\\/](json|omit-undefined))|rolldown[\\/]runtime/

/**
 * @param {typeof import('rolldown').rolldown} rolldown
 * @returns {Promise<import('rolldown').OutputChunk[]>} the files of the bundles
 */
export async function bundleCompleters(rolldown) {
  const files = await Promise.all(Object.entries(COMPLETERS).map(([name, entry]) => bundleOne(rolldown, name, entry)))
  return files.flat()
}

async function bundleOne(rolldown, name, entry) {
  const folder = join(ROOT, 'dist', 'bundle', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const bundle = await rolldown({
    platform: 'node',
    input: { complete: entry },
    external: (id) => id.startsWith('node:'),
    plugins: [placesOfModules(folder, 'cjs'), lazyBuiltins, importsOfLoader],
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'cjs',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    strict: true,
    charset: 'ascii',
    comments: false,
    minify: true,
    codeSplitting: { groups: [{ name: 'shared', test: ALWAYS }] },
  })
  await bundle.close()
  const main = output.find(({ isEntry }) => isEntry)?.fileName
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type: 'commonjs', main })}\n`)
  return output
}
