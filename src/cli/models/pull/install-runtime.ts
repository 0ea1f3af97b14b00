import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EXIT } from '../../../contract/errors.js'
import { syncPath } from '../../../local/file-system.js'
import { getRuntimeBuild, getRuntimeEntry, getRuntimeFolder, RUNTIME } from '../../../local/models/runtime.js'
import { CliError } from '../../cli-error.js'

/** Maximum number of npm's last error lines that are shown. */
const MAX_REPORT_LINES = 5

/**
 * Installs the runtime with npm from its configured registry: one version, only the build of this machine, without
 * install scripts. A rename publishes it.
 *
 * @param models folder of models
 * @throws CliError exit 9 if there is no build or no npm, exit 8 if npm fails
 */
export async function installRuntime(models: string): Promise<void> {
  const build = getRuntimeBuild()
  if (build === undefined)
    throw new CliError(`${RUNTIME.name} has no build for ${process.platform} on ${process.arch}`, {
      code: 'not-configured',
      exit: EXIT.notConfigured,
      hint: '`ks models add ADDRESS` adds a model server on another machine',
    })
  const folder = getRuntimeFolder(models)
  const staging = join(dirname(folder), 'staging')
  await rm(staging, { recursive: true, force: true })
  mkdirSync(staging, { recursive: true, mode: 0o700 })
  const dependencies = { [RUNTIME.name]: RUNTIME.version, [build]: RUNTIME.version }
  writeFileSync(join(staging, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await runNpm(staging)
  for (const path of [getRuntimeEntry(staging), join(staging, 'node_modules', build, 'package.json')])
    if (!existsSync(path)) throw toInstallError(`npm did not install ${path.slice(staging.length + 1)}`)
  await rm(folder, { recursive: true, force: true })
  await rename(staging, folder)
  await syncPath(dirname(folder))
}

/** Removes all versions of the runtime. */
export async function removeRuntime(models: string): Promise<void> {
  await rm(dirname(getRuntimeFolder(models)), { recursive: true, force: true })
}

async function runNpm(prefix: string): Promise<void> {
  const { execa } = await import('execa')
  const flags = ['--ignore-scripts', '--omit=optional', '--omit=dev', '--no-audit', '--no-fund', '--no-update-notifier']
  const run = await execa('npm', ['install', '--prefix', prefix, ...flags], {
    cwd: prefix,
    stdin: 'ignore',
    reject: false,
  })
  if (!run.failed) return
  if (run.code === 'ENOENT')
    throw new CliError(`npm is required to install ${RUNTIME.name}, but not found`, {
      code: 'not-configured',
      exit: EXIT.notConfigured,
      hint: 'npm is part of Node; PATH must contain it',
    })
  const report = run.stderr.split('\n').filter((line) => line.trim() !== '')
  throw toInstallError(`npm could not install ${RUNTIME.name} ${RUNTIME.version}`, report.slice(-MAX_REPORT_LINES))
}

function toInstallError(message: string, details: string[] = []): CliError {
  return new CliError(message, { code: 'unavailable', exit: EXIT.unavailable, details })
}
