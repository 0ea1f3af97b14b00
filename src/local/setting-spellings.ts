import { isRecord } from '../lib/json/values.js'
import type { SettingName } from './settings.js'

/** Other spellings of settings: a key of its own, or an object within the object. */
const SPELLINGS = new Map<string, SettingName>([['egress.allow', 'egressAllow']])

/** The name in the table of settings for a name as it is written; what is not known stays. */
export function canonicalName(name: string): string {
  return SPELLINGS.get(name) ?? name
}

/** What a configuration file holds, by the names of the table. @throws Error that names a setting which is there twice */
export function withCanonicalNames(file: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(file).flatMap(([key, value]) => spelledOut(key, value))
  const named = new Map<string, unknown>()
  for (const [name, value] of entries) {
    if (named.has(name)) throw new Error(`the setting ${name} is there twice`)
    named.set(name, value)
  }
  return Object.fromEntries(named)
}

function spelledOut(key: string, value: unknown): [string, unknown][] {
  const isGroup = [...SPELLINGS.keys()].some((spelling) => spelling.startsWith(`${key}.`))
  if (!isGroup || !isRecord(value)) return [[canonicalName(key), value]]
  return Object.entries(value).map(([part, entry]) => [canonicalName(`${key}.${part}`), entry])
}
