/**
 * `node scripts/simulate.js [ARGUMENTS]`: builds what is missing, bundles the simulation into one file, and runs it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execaSync } from 'execa'
import { rolldown } from 'rolldown'
import { ROOT } from './build.js'
import { ensure } from './ensure.js'

/** Plugin that keeps the location of each module, from which it finds child processes, workers and other files. */
const moduleLocations = {
  name: 'module-locations',
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!id.startsWith(ROOT) || id.includes('node_modules') || !code.includes('import.meta.')) return undefined
    const replaced = code
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    return { code: replaced, map: null }
  },
}

mkdirSync(join(ROOT, 'dist-bench'), { recursive: true })
/** A separate folder, because several runs may be active. */
const folder = mkdtempSync(join(ROOT, 'dist-bench', 'simulation-'))
try {
  ensure()
  const bundle = await rolldown({
    platform: 'node',
    input: { simulate: join(ROOT, 'test', 'simulation', 'main.ts') },
    external: (id) => /^[^./]/.test(id),
    plugins: [moduleLocations],
  })
  await bundle.write({ dir: folder, format: 'esm' })
  await bundle.close()
  const { exitCode } = execaSync(process.execPath, [join(folder, 'simulate.js'), ...process.argv.slice(2)], {
    stdio: 'inherit',
    reject: false,
  })
  process.exitCode = exitCode ?? 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
