import type * as fs from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { startDaemon } from '../../src/daemon/run.js'
import { openEngine } from '../../src/engine/index.js'
import { temporaryDir } from '../helpers/daemon.js'

const NFS = 0x6969

// A test cannot rely on a network disk, so this replaces the reply of the system about the file system.
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  return { ...real, statfsSync: (path: string) => ({ ...real.statfsSync(path), type: NFS }) }
})

const folder = temporaryDir()
afterEach(() => folder.remove())

test('a data directory on a network disk is opened only with KS_DAEMON_ALLOW_NETWORK_DISK', async () => {
  const start = (env: Record<string, string>) =>
    startDaemon({
      dataDir: folder.path,
      mode: 'manual',
      env,
      flags: { listen: '127.0.0.1:0' },
      openEngine,
      echoLog: false,
    })
  await expect(start({})).rejects.toThrow('set allowNetworkDisk')
  const daemon = await start({ KS_DAEMON_ALLOW_NETWORK_DISK: '1' })
  daemon.stop('test')
  await daemon.stopped
})
