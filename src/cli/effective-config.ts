import type { Settings, WithOrigin } from './contexts.js'
import { DEFAULT_KEYS, type DefaultKey } from './user-config.js'

/** One setting with its effective value. */
export interface SettingRow {
  name: string
  value: string
  origin: string
  about: string
}

/** Lists the effective settings of the CLI. */
export function effectiveDefaults(settings: Settings): SettingRow[] {
  const autostart: WithOrigin<string> = {
    value: settings.autostart ? 'on' : 'off',
    origin: settings.user.defaults.autostart === undefined ? 'default' : 'user',
  }
  return [
    row('space', settings.space),
    row('format', settings.format),
    row('mode', settings.mode),
    row('autostart', autostart),
  ]
}

function row(name: DefaultKey, sourced: WithOrigin<string> | undefined): SettingRow {
  return { name, value: sourced?.value ?? '', origin: sourced?.origin ?? 'default', about: DEFAULT_KEYS[name] }
}
