/** `node scripts/simulate.js [ARGUMENTS]`: builds what is missing, joins the simulation into one file and runs it. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { ROOT } from './build.js'
import { ensure } from './ensure.js'

const PROGRAM = join(ROOT, 'dist-bench', 'simulate.js')

try {
  ensure()
  const bundle = await rolldown({
    input: join(ROOT, 'test', 'simulation', 'main.ts'),
    platform: 'node',
    external: (id) => /^[^./]/.test(id),
  })
  await bundle.write({ file: PROGRAM, format: 'esm', codeSplitting: false })
  await bundle.close()
  const { status } = spawnSync(process.execPath, [PROGRAM, ...process.argv.slice(2)], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
