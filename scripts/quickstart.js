/** `npm run quickstart [-- PATH]`: makes the checkout runnable, then runs `ks quickstart [PATH]`. */
import { join } from 'node:path'
import { ROOT } from './build.js'
import { ensure } from './ensure.js'

try {
  ensure()
  // imported here, because `ensure` may have just installed it
  const { execaSync } = await import('execa')
  const { exitCode } = execaSync(
    process.execPath,
    [join(ROOT, 'bin', 'ks.js'), 'quickstart', ...process.argv.slice(2)],
    {
      // npm changes to the package folder, but PATH is relative to the folder of the user
      cwd: process.env.INIT_CWD ?? process.cwd(),
      stdio: 'inherit',
      reject: false,
    },
  )
  process.exitCode = exitCode ?? 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
