/**
 * Joins the compiled modules of `kchat` into few files, `dist/bundle`: every module that Node loads on its own costs half
 * a millisecond, and the first word of `kchat send` waits for all of them. What a command loads lazily stays apart, and
 * packages stay packages. Without it `bin/kchat.js` takes the modules themselves.
 */
import { join } from 'node:path'
import { ROOT } from './build.js'

/** small, and needed for every answer */
const INLINED = 'eventsource-parser'
/** with all that they load in turn */
const START = /[\\/](kchat[\\/]main|client[\\/]sse)\.js$/

const rolldown = await bundler()
if (rolldown !== undefined) {
  const bundle = await rolldown({
    input: { kchat: join(ROOT, 'dist', 'kchat', 'main.js') },
    platform: 'node',
    external: (id) => /^[^./]/.test(id) && id !== INLINED && id !== 'kchat',
  })
  // as deep below the root as the modules were: they find files of the package from where they are
  await bundle.write({
    dir: join(ROOT, 'dist', 'bundle'),
    format: 'esm',
    codeSplitting: { groups: [{ name: 'start', test: START }] },
  })
  await bundle.close()
}

/** The bundler has a native part, which not every platform has. */
async function bundler() {
  try {
    return (await import('rolldown')).rolldown
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    process.stderr.write(`kchat is not bundled, so it starts a little slower: ${reason}\n`)
    return undefined
  }
}
