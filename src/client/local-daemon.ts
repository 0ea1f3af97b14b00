import { type DaemonFile, readDaemonFile } from '../local/daemon-file.js'
import { resolveDataLayout } from '../local/layout.js'
import { readIfExists } from '../local/private-file.js'
import { readText, type ServiceTarget, Transport } from './http.js'
import { pointsToThisMachine } from './this-machine.js'

/** A running local daemon, as its daemon file describes it and confirmed by its instance id. */
export interface LocalDaemon {
  file: DaemonFile
  target: ServiceTarget
}

/** A busy daemon may be slow. A dead one refuses at once, so this timeout rarely expires. */
const HEALTH_TIMEOUT_MS = 2000

/** Finds the running daemon of a data directory; undefined if none responds. */
export async function findDaemon(dataDir: string): Promise<LocalDaemon | undefined> {
  const layout = resolveDataLayout(dataDir)
  const file = readDaemonFile(layout.daemonFile)
  if (file === undefined || !pointsToThisMachine(file.url)) return undefined
  for (const target of listTargets(file)) {
    if (await hasInstance(target, file.instance)) {
      const token = readIfExists(layout.cliToken)?.trim()
      return { file, target: token === undefined ? target : { ...target, token } }
    }
  }
  return undefined
}

function listTargets(file: DaemonFile): ServiceTarget[] {
  const overTcp: ServiceTarget = { url: file.url }
  return file.socket === undefined ? [overTcp] : [{ url: file.url, socketPath: file.socket }, overTcp]
}

async function hasInstance(target: ServiceTarget, instance: string): Promise<boolean> {
  const transport = new Transport(target)
  try {
    const response = await transport.send({ method: 'GET', path: '/health', idleMs: HEALTH_TIMEOUT_MS })
    await readText(response)
    return response.headers['x-ks-instance'] === instance
  } catch {
    return false
  } finally {
    transport.close()
  }
}
