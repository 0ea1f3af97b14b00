/**
 * Bundles the compiled modules of the programs into few files in `dist/bundle`: every single module that Node loads costs
 * half a millisecond, and a daemon has two thousand. Dynamic imports become separate chunks. Without bundles,
 * `bin/kchat.js` and `bin/ksd.js` load the modules themselves; child processes and workers always do.
 */
import { join } from 'node:path'
import { ROOT } from './build.js'
import { bundleCompleters } from './bundle-complete.js'
import { bundleKs } from './bundle-ks.js'
import { writeBundledPackages } from './joined-packages.js'
import { keepModuleLocations } from './places-of-modules.js'
import { toolsAsData } from './tools-as-data.js'

const OUTPUT = join(ROOT, 'dist', 'bundle')

/** The only package that becomes part of kchat: it is small and needed for every answer. */
const INLINED = 'eventsource-parser'
/** Modules with which kchat starts; their dependencies go into the same chunk. */
const START = /[\\/](kchat[\\/]main|client[\\/]sse)\.js$/
/** Packages that do not become part of ksd: native ones, and those that few runs load. */
const EXTERNAL =
  /^(better-sqlite3|hnswlib-node|@oxdev03\/.*|pino|undici|@aws-sdk|isomorphic-git|unpdf|@e965\/xlsx|image-size|@silvia-odwyer\/.*|@hyzyla\/.*)($|\/)/

const rolldown = await loadBundler()
const chunks = []
if (rolldown !== undefined) {
  await writeBundle(
    {
      input: { kchat: join(ROOT, 'dist', 'kchat', 'main.js') },
      external: (id) => /^[^./]/.test(id) && id !== INLINED && id !== 'kchat',
    },
    { codeSplitting: { groups: [{ name: 'start', test: START }] } },
  )
  await writeBundle(
    {
      input: { ksd: join(ROOT, 'dist', 'daemon', 'main.js') },
      external: (id) => EXTERNAL.test(id),
      plugins: [toolsAsData, keepModuleLocations(OUTPUT, 'esm')],
    },
    // the bundler renames classes of equal names, and logs contain names of classes
    { keepNames: true },
  )
  chunks.push(...(await bundleKs(rolldown)), ...(await bundleCompleters(rolldown)))
  writeBundledPackages(OUTPUT, chunks)
}

/** Writes files as deep below the root as the modules were, which find files of the package relative to themselves. */
async function writeBundle(input, output) {
  const bundle = await rolldown({ platform: 'node', ...input })
  const { output: files } = await bundle.write({ dir: OUTPUT, format: 'esm', ...output })
  chunks.push(...files)
  await bundle.close()
}

/** The bundler; undefined on a platform that lacks its native part. */
async function loadBundler() {
  try {
    return (await import('rolldown')).rolldown
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    process.stderr.write(`the programs are not bundled and start more slowly: ${reason}\n`)
    return undefined
  }
}
