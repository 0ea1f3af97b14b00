import { isRecord } from '../lib/json/values.js'
import type { SettingName } from './settings.js'

/** Canonical names by alternative spelling; `egress.allow` may be a key, or the key `allow` in the object `egress`. */
const SPELLINGS = new Map<string, SettingName>([['egress.allow', 'egressAllow']])

/** The canonical name of a setting; unknown names do not change. */
export function toCanonicalName(name: string): string {
  return SPELLINGS.get(name) ?? name
}

/** The settings of a configuration file by canonical name. @throws Error for a setting that is given twice */
export function withCanonicalNames(file: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(file).flatMap(([key, value]) => expandEntry(key, value))
  const byName = new Map<string, unknown>()
  for (const [name, value] of entries) {
    if (byName.has(name)) throw new Error(`the setting ${name} is given twice`)
    byName.set(name, value)
  }
  return Object.fromEntries(byName)
}

function expandEntry(key: string, value: unknown): [string, unknown][] {
  const isGroup = [...SPELLINGS.keys()].some((spelling) => spelling.startsWith(`${key}.`))
  if (!isGroup || !isRecord(value)) return [[toCanonicalName(key), value]]
  return Object.entries(value).map(([part, entry]) => [toCanonicalName(`${key}.${part}`), entry])
}
