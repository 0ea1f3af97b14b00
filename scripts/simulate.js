/**
 * `node scripts/simulate.js [ARGUMENTS]`: builds what is missing, joins the simulation into one file, and runs it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execaSync } from 'execa'
import { rolldown } from 'rolldown'
import { ROOT } from './build.js'
import { ensure } from './ensure.js'

/** Child processes, workers and other files are looked for beside the module that names them. */
const placesOfModules = {
  name: 'places-of-modules',
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!id.startsWith(ROOT) || id.includes('node_modules') || !code.includes('import.meta.')) return undefined
    const placed = code
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    return { code: placed, map: null }
  },
}

/** @param {Parameters<typeof rolldown>[0]} options @param {string} dir */
async function bundleOf(options, dir) {
  const bundle = await rolldown({ platform: 'node', ...options })
  await bundle.write({ dir, format: 'esm' })
  await bundle.close()
}

mkdirSync(join(ROOT, 'dist-bench'), { recursive: true })
/** of this run alone: several go on at once */
const folder = mkdtempSync(join(ROOT, 'dist-bench', 'simulation-'))
try {
  ensure()
  await bundleOf(
    {
      input: { simulate: join(ROOT, 'test', 'simulation', 'main.ts') },
      external: (id) => /^[^./]/.test(id),
      plugins: [placesOfModules],
    },
    folder,
  )
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
