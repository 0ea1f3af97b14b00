import { type Confinement, createConfinement } from '../../local/confinement/confinement.js'
import type { EngineOptions } from './options.js'

/** Confinement of the programs that an engine starts: they never see its data directory. */
export function createEngineConfinement({ dataDir, programs, log }: EngineOptions): Confinement {
  return createConfinement({
    listSecrets: () => [dataDir, ...(programs?.secrets() ?? [])],
    allowUnconfined: programs?.allowUnconfined ?? false,
    log,
  })
}
