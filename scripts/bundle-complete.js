/**
 * Bundles the completion of shells, one bundle for `ks` and one for `kchat`, without the programs themselves: a user who
 * presses Tab waits for every file and every module that is loaded (`bin/complete.js`).
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { importsOfLoader, lazyBuiltins } from './lazy-requires.js'
import { keepModuleLocations } from './places-of-modules.js'

/** Entry modules by the folder of their bundle. */
const COMPLETERS = {
  'complete-ks': join(ROOT, 'dist', 'cli', 'complete.js'),
  'complete-kchat': join(ROOT, 'dist', 'kchat', 'complete.js'),
}

/** Modules that every completion by a local daemon needs. The client for other services is a separate chunk. */
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
    plugins: [keepModuleLocations(folder, 'cjs'), lazyBuiltins, importsOfLoader],
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
