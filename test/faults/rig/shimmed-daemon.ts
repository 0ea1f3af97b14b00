import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../../bench/lib/daemon.js'
import { type FaultShim, faultShim } from './shim.js'

/** A daemon on a separate data directory, whose file operations can be made to fail. */
export interface ShimmedDaemon {
  dataDir: string
  shim: FaultShim
  daemon: BenchDaemon
  /** removes the data directory and the shim; the daemon must have ended */
  remove(): void
}

export async function startShimmed(name: string): Promise<ShimmedDaemon> {
  const home = temporaryFolder(name)
  const dataDir = join(home.path, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const shim = faultShim(dataDir)
  const remove = () => {
    home.remove()
    shim.remove()
  }
  try {
    return { dataDir, shim, daemon: await startDaemon(dataDir, shim.env), remove }
  } catch (error) {
    remove()
    throw error
  }
}
