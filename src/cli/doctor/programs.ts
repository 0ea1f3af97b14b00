import { toErrorMessage } from '../../lib/error-message.js'
import { detectConfinement } from '../../local/confinement/confinement.js'
import { resolveDataLayout } from '../../local/layout.js'
import { SETTINGS } from '../../local/settings.js'
import { readJsonObject } from '../json-file.js'
import type { CheckFinding } from '../json-output/machine.js'

/** Checks that converters and programs of providers run confined, if any are configured. */
export async function* checkPrograms(dataDir: string, env: NodeJS.ProcessEnv): AsyncGenerator<CheckFinding> {
  const check = 'programs'
  try {
    const config = readJsonObject(resolveDataLayout(dataDir).config)
    const readSetting = <T>(setting: { env: string; read(value: unknown): T }, key: string, fallback: unknown) =>
      setting.read(env[setting.env] || (config[key] ?? fallback))
    const converters = readSetting(SETTINGS.converters, 'converters', [])
    const providers = readSetting(SETTINGS.providers, 'providers', [])
    if (converters.length === 0 && providers.every(({ pluginId }) => pluginId !== 'command')) return
    const confinement = await detectConfinement([dataDir])
    if (confinement !== 'nothing') yield { check, state: 'ok', found: `confined by ${confinement}` }
    else {
      const runs = readSetting(SETTINGS.unconfinedPrograms, 'unconfinedPrograms', false)
      const found = `converters and programs of providers ${runs ? 'run unconfined' : 'are not started'}`
      yield { check, state: runs ? 'warning' : 'failed', found, fix: CONFINEMENT_FIX }
    }
  } catch (error) {
    const found = toErrorMessage(error)
    yield { check, state: 'failed', found, fix: '`ks config --daemon` shows the settings' }
  }
}

const CONFINEMENT_FIX =
  'neither bubblewrap nor unshare works: install bubblewrap and allow user namespaces, see Converters in docs/configuration.md'
