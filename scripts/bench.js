/**
 * `node scripts/bench.js NAME [ARGUMENTS]`: builds what is missing, compiles the benches and runs one of them. Without
 * arguments it also runs `NAME-engine`, if there is one: the same without HTTP, compared with other engines.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { ensure } from './ensure.js'

const [name = '', ...args] = process.argv.slice(2)

try {
  ensure()
  // imported here, because `ensure` may have just installed it
  const { execaSync } = await import('execa')
  const compiled = execaSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'bench/tsconfig.json'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    reject: false,
  })
  if (compiled.failed) throw new Error('the benches do not compile')
  const shared = process.env.KS_SHARED_DATA ?? join(ROOT, '..', 'shared', 'data')
  const env = existsSync(shared) ? { ...process.env, KS_SHARED_DATA: shared } : process.env
  const programs = (args.length > 0 ? [name] : [name, `${name}-engine`])
    .map((program) => join(ROOT, 'dist-bench', 'bench', `${program}.js`))
    .filter((path) => existsSync(path))
  if (programs.length === 0) throw new Error(`there is no bench ${JSON.stringify(name)}`)
  for (const program of programs) {
    const { failed, exitCode } = execaSync(process.execPath, [program, ...args], {
      env,
      stdio: 'inherit',
      reject: false,
    })
    if (failed) process.exitCode = exitCode ?? 1
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
