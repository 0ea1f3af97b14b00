import { findDaemon, type LocalDaemon } from '../client/local-daemon.js'
import { startDaemon } from '../client/start-daemon.js'
import type { LocalDirs } from '../local/dirs.js'
import { readConfiguredProviders } from './daemon-config.js'
import { stopDaemon } from './daemon-control.js'
import { toDaemonArguments } from './daemon-flags.js'
import {
  findInstalledService,
  isManagerRunning,
  runSystemctl,
  SYSTEMD_UNIT,
  waitForNewDaemon,
} from './service/manager.js'

/**
 * Restarts the local daemon at the same address. A daemon managed by systemd is restarted by systemd: otherwise two
 * would run.
 */
export async function restartDaemon(
  dirs: LocalDirs,
  flags: Partial<Parameters<typeof toDaemonArguments>[0]> = {},
): Promise<LocalDaemon> {
  const service = findInstalledService(dirs, process.env)
  const previous = service === undefined ? undefined : await findDaemon(dirs.data)
  if (service !== undefined && previous?.file.mode === 'service' && (await isManagerRunning(service.kind))) {
    await runSystemctl('restart', SYSTEMD_UNIT)
    return waitForNewDaemon(dirs.data, previous.file.instance)
  }
  const stopped = await stopDaemon({ dataDir: dirs.data, force: false })
  const listen = flags.listen ?? (stopped?.file === undefined ? undefined : new URL(stopped.file.url).host)
  const args = toDaemonArguments({ 'insecure-listen': false, ...flags, listen })
  return startDaemon({
    dataDir: dirs.data,
    args: ['--mode', stopped?.file?.mode ?? 'manual', ...args],
    previousInstance: stopped?.file?.instance,
  })
}

/**
 * Restarts the daemon, so that changed settings take effect. A daemon that was not started by `ks` itself (mode
 * `manual`) is not restarted, nor one that would lose an API key.
 *
 * @returns whether the settings are in effect, now or at the next start
 */
export async function applySettings(dirs: LocalDirs): Promise<boolean> {
  const daemon = await findDaemon(dirs.data)
  if (daemon === undefined) return true
  const { mode } = daemon.file
  if (mode === 'manual') return false
  // A restarted daemon inherits the environment of this command; systemd sets its own.
  const isKeyMissing = readConfiguredProviders(dirs.data).some(
    ({ apiKeyEnv = '' }) => apiKeyEnv && !process.env[apiKeyEnv],
  )
  if (mode === 'auto' && isKeyMissing) return false
  await restartDaemon(dirs)
  return true
}
