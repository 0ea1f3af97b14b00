import { confinedBy } from '../../local/confinement/confinement.js'
import { dataLayout } from '../../local/layout.js'
import { SETTINGS } from '../../local/settings.js'
import { readJsonObject } from '../json-file.js'
import type { Finding } from './finding.js'

/** Checks that converters and programs of providers run confined, if any are configured. */
export async function* programs(dataDir: string, env: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  const check = 'programs'
  try {
    const file = readJsonObject(dataLayout(dataDir).config)
    const settingOf = <T>(setting: { env: string; read(value: unknown): T }, key: string, absent: unknown) =>
      setting.read(env[setting.env] || (file[key] ?? absent))
    const converters = settingOf(SETTINGS.converters, 'converters', [])
    const providers = settingOf(SETTINGS.providers, 'providers', [])
    if (converters.length === 0 && providers.every(({ pluginId }) => pluginId !== 'command')) return
    const by = await confinedBy([dataDir])
    if (by !== 'nothing') yield { check, state: 'ok', found: `confined by ${by}` }
    else if (settingOf(SETTINGS.unconfinedPrograms, 'unconfinedPrograms', false))
      yield { check, state: 'warning', found: 'converters and programs of providers run unconfined', fix: FIX }
    else yield { check, state: 'failed', found: 'converters and programs of providers are not started', fix: FIX }
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    yield { check, state: 'failed', found, fix: '`ks config list --daemon` shows the settings' }
  }
}

const FIX =
  'neither bubblewrap nor unshare works: install bubblewrap and allow user namespaces, see Converters in docs/configuration.md'
