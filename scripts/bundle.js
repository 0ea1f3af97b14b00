/**
 * Joins the compiled modules of `kchat` and of `ksd` into few files, `dist/bundle`: every module that Node loads on its
 * own costs half a millisecond. The first word of `kchat send` waits for all of them, and a user who starts a daemon for
 * two thousand. What is loaded lazily stays apart. Without bundles `bin/kchat.js` and `bin/ksd.js` take the modules
 * themselves; child processes and workers always do.
 */
import { join } from 'node:path'
import { ROOT } from './build.js'
import { bundleCompleters } from './bundle-complete.js'
import { bundleKs } from './bundle-ks.js'
import { noteJoined } from './joined-packages.js'
import { placesOfModules } from './places-of-modules.js'
import { toolsAsData } from './tools-as-data.js'

const OUTPUT = join(ROOT, 'dist', 'bundle')

/** Packages of kchat stay packages, but for one that is small and needed for every answer. */
const INLINED = 'eventsource-parser'
/** of kchat, with all that they load in turn */
const START = /[\\/](kchat[\\/]main|client[\\/]sse)\.js$/
/** Packages of ksd that stay packages: native, or loaded by few runs. */
const APART =
  /^(better-sqlite3|hnswlib-node|@oxdev03\/.*|pino|undici|@aws-sdk|isomorphic-git|unpdf|mammoth|@e965\/xlsx|image-size|@silvia-odwyer\/.*|@hyzyla\/.*)($|\/)/

const rolldown = await bundler()
const joined = []
if (rolldown !== undefined) {
  await write(
    {
      input: { kchat: join(ROOT, 'dist', 'kchat', 'main.js') },
      external: (id) => /^[^./]/.test(id) && id !== INLINED && id !== 'kchat',
    },
    { codeSplitting: { groups: [{ name: 'start', test: START }] } },
  )
  await write(
    {
      input: { ksd: join(ROOT, 'dist', 'daemon', 'main.js') },
      external: (id) => APART.test(id),
      plugins: [toolsAsData, placesOfModules(OUTPUT, 'esm')],
    },
    // of a class that two modules have, the name is told in logs
    { keepNames: true },
  )
  joined.push(...(await bundleKs(rolldown)), ...(await bundleCompleters(rolldown)))
  noteJoined(OUTPUT, joined)
}

/** As deep below the root as the modules of `kchat` were: they find files of the package from where they are. */
async function write(input, output) {
  const bundle = await rolldown({ platform: 'node', ...input })
  const { output: files } = await bundle.write({ dir: OUTPUT, format: 'esm', ...output })
  joined.push(...files)
  await bundle.close()
}

/** The bundler has a native part, which not every platform has. */
async function bundler() {
  try {
    return (await import('rolldown')).rolldown
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    process.stderr.write(`nothing is bundled, so programs start a little slower: ${reason}\n`)
    return undefined
  }
}
