/** `node scripts/bench.js NAME [ARGUMENTS]`: builds what is missing, compiles the benches and runs one of them. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { ensure } from './ensure.js'

const [name = '', ...args] = process.argv.slice(2)

try {
  ensure()
  const program = join(ROOT, 'dist-bench', 'bench', `${name}.js`)
  const compiled = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'bench/tsconfig.json'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  })
  if (compiled.status !== 0) throw new Error('the benches do not compile')
  if (!existsSync(program)) throw new Error(`there is no bench ${JSON.stringify(name)}`)
  const shared = process.env.KS_SHARED_DATA ?? join(ROOT, '..', 'shared', 'data')
  const env = existsSync(shared) ? { ...process.env, KS_SHARED_DATA: shared } : process.env
  process.exitCode = spawnSync(process.execPath, [program, ...args], { env, stdio: 'inherit' }).status ?? 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
