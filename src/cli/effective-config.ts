import type { CommandSettings, SettingWithOrigin } from './contexts.js'
import type { SettingRow } from './json-output/machine.js'
import { DEFAULT_KEYS, type DefaultKey } from './user-config.js'

export function listEffectiveDefaults(settings: CommandSettings): SettingRow[] {
  const autostart: SettingWithOrigin<string> = {
    value: settings.autostart ? 'on' : 'off',
    origin: settings.user.defaults.autostart === undefined ? 'default' : 'user',
  }
  return [
    toSettingRow('space', settings.space),
    toSettingRow('format', settings.format),
    toSettingRow('mode', settings.mode),
    toSettingRow('autostart', autostart),
  ]
}

function toSettingRow(name: DefaultKey, setting: SettingWithOrigin<string> | undefined): SettingRow {
  return { name, value: setting?.value ?? '', origin: setting?.origin ?? 'default', about: DEFAULT_KEYS[name] }
}
