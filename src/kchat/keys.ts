import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../cli/cli-error.js'
import { checkPrivate } from '../cli/credentials.js'
import { readJsonObject, writeJson } from '../cli/json-file.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'

/** The key of an application with its service; the key is sent to no other service. */
export interface StoredKey {
  service: string
  key: string
}

interface KeyFile {
  current: string | undefined
  apps: Record<string, StoredKey>
}

export function keysPath(configDir: string): string {
  return join(configDir, 'chat-keys.json')
}

/** Reads the stored keys by name. @throws CliError exit 4 if other users can read the file */
export function readKeys(configDir: string): KeyFile {
  const path = keysPath(configDir)
  if (existsSync(path)) checkPrivate(path)
  const raw = readJsonObject(path)
  const apps: KeyFile['apps'] = {}
  for (const [name, entry] of Object.entries(isRecord(raw.apps) ? raw.apps : {})) {
    if (!isRecord(entry)) continue
    const [service, key] = [toNonEmptyString(entry.service), toNonEmptyString(entry.key)]
    if (service !== undefined && key !== undefined) apps[name] = { service, key }
  }
  return { current: toNonEmptyString(raw.current), apps }
}

export interface SavedKey {
  /** name of the current key, which is used if no name is given */
  current: string
  /** whether a different key had this name and was replaced */
  isReplaced: boolean
}

/**
 * Stores a key under a name.
 *
 * @param makeCurrent whether it becomes the current key in any case; otherwise only if there is none
 */
export function saveKey(
  configDir: string,
  name: string,
  { makeCurrent, ...entry }: StoredKey & { makeCurrent: boolean },
): SavedKey {
  const { apps, current: previous } = readKeys(configDir)
  const current = makeCurrent || previous === undefined || apps[previous] === undefined ? name : previous
  writeJson(keysPath(configDir), { current, apps: { ...apps, [name]: entry } })
  return { current, isReplaced: apps[name] !== undefined && apps[name].key !== entry.key }
}

/** @throws CliError exit 5 for an unknown name */
export function setCurrentKey(configDir: string, name: string): void {
  const { apps } = readKeys(configDir)
  if (apps[name] === undefined) throw createMissingKeyError(name)
  writeJson(keysPath(configDir), { current: name, apps })
}

/** Returns the key with a name, otherwise the current one. @throws CliError exit 5 without that key, 4 without any */
export function getStoredKey(configDir: string, name: string | undefined): StoredKey & { name: string } {
  const { current, apps } = readKeys(configDir)
  const selectedName = name ?? current
  if (selectedName === undefined)
    throw new CliError('no application key is stored', {
      code: 'unauthenticated',
      exit: EXIT.notAllowed,
      hint: '`kchat apps create NAME --space SPACE` creates an application and stores its key, `kchat login NAME` stores an existing key',
    })
  const entry = apps[selectedName]
  if (entry === undefined) throw createMissingKeyError(selectedName)
  return { ...entry, name: selectedName }
}

function createMissingKeyError(name: string): CliError {
  return new CliError(`no application key is stored under ${JSON.stringify(name)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: '`kchat use` lists the names',
  })
}
