import { join } from 'node:path'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { usageError } from './cli-error.js'
import { readJsonObject, writeJson } from './json-file.js'

/** `config.json` of a user: addresses of services, and defaults. It contains no secrets. */
export interface UserConfig {
  contexts: Record<string, ContextEntry>
  currentContext?: string
  defaults: Partial<Record<DefaultKey, string>>
}

export interface ContextEntry {
  url: string
  space?: string
}

/** Keys of `ks config`, with the allowed values. */
export const DEFAULT_KEYS = {
  space: 'slug or id of the default space',
  format: 'table, json, jsonl or tsv',
  mode: 'fast, deep, research or auto',
  autostart: 'on or off: whether commands start the local daemon',
} as const
export type DefaultKey = keyof typeof DEFAULT_KEYS

const ALLOWED_VALUES: Partial<Record<DefaultKey, readonly string[]>> = {
  format: ['table', 'json', 'jsonl', 'tsv'],
  mode: ['fast', 'deep', 'research', 'auto'],
  autostart: ['on', 'off'],
}

/** The built-in context: the daemon of this user's data directory. */
export const LOCAL_CONTEXT = 'local'

export function getUserConfigPath(configDir: string): string {
  return join(configDir, 'config.json')
}

export function readUserConfig(configDir: string): UserConfig {
  const raw = readJsonObject(getUserConfigPath(configDir))
  const currentContext = toNonEmptyString(raw.currentContext)
  const config: UserConfig = { contexts: {}, defaults: {}, ...omitUndefined({ currentContext }) }
  for (const [name, entry] of Object.entries(isRecord(raw.contexts) ? raw.contexts : {})) {
    const url = isRecord(entry) ? toNonEmptyString(entry.url) : undefined
    if (!isRecord(entry) || url === undefined) continue
    config.contexts[name] = { url, ...omitUndefined({ space: toNonEmptyString(entry.space) }) }
  }
  const defaults = isRecord(raw.defaults) ? raw.defaults : {}
  for (const key of listDefaultKeys()) {
    const value = toNonEmptyString(defaults[key])
    if (value !== undefined) config.defaults[key] = value
  }
  return config
}

export function writeUserConfig(configDir: string, config: UserConfig): void {
  writeJson(getUserConfigPath(configDir), config)
}

export function listDefaultKeys(): DefaultKey[] {
  return Object.keys(DEFAULT_KEYS).filter(isDefaultKey)
}

export function isDefaultKey(key: string): key is DefaultKey {
  return Object.hasOwn(DEFAULT_KEYS, key)
}

/** @throws CliError exit 2 if the value is not allowed for the key */
export function checkDefaultValue(key: DefaultKey, value: string): string {
  const allowed = ALLOWED_VALUES[key]
  if (allowed !== undefined && !allowed.includes(value)) {
    throw usageError(`${key} must be one of ${allowed.join(', ')}, received ${JSON.stringify(value)}`)
  }
  return value
}

/** Normalizes a service address to origin and path prefix. @throws CliError exit 2 */
export function normalizeServiceUrl(text: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw usageError(`${JSON.stringify(text)} is not an address such as https://kb.example.com`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw usageError(`the address of a service must start with http:// or https://, received ${JSON.stringify(text)}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError('an address must not contain a user name or password', '`ks auth login --url URL` stores a token')
  }
  url.search = ''
  url.hash = ''
  return url.href.replace(/\/$/, '')
}
