import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../contract/errors.js'
import { isRecord, textOf } from '../lib/json/values.js'
import { CliError } from './cli-error.js'
import { readJsonObject, writeJson } from './json-file.js'

/** A token and the origin it was given for; it is sent nowhere else. */
export interface Credential {
  origin: string
  /** absent: for any context of this origin */
  context?: string
  token: string
}

export function credentialsPath(configDir: string): string {
  return join(configDir, 'credentials.json')
}

/** @throws CliError exit 4 when others may read the file */
export function readCredentials(configDir: string): Credential[] {
  const path = credentialsPath(configDir)
  if (existsSync(path)) refuseShared(path)
  const raw = readJsonObject(path).credentials
  const found: Credential[] = []
  for (const entry of Array.isArray(raw) ? raw : []) {
    if (!isRecord(entry)) continue
    const [origin, token, context] = [textOf(entry.origin), textOf(entry.token), textOf(entry.context)]
    if (origin === undefined || token === undefined) continue
    found.push(context === undefined ? { origin, token } : { origin, token, context })
  }
  return found
}

/**
 * The token stored for an origin: that of the context first, then one that belongs to no context. An address without a
 * context takes that of a context, where only one is kept.
 */
export function findCredential(all: Credential[], origin: string, context: string | undefined): Credential | undefined {
  const here = all.filter((entry) => entry.origin === origin)
  const own = here.find((entry) => entry.context === context) ?? here.find((entry) => entry.context === undefined)
  return own ?? (context === undefined && here.length === 1 ? here[0] : undefined)
}

export function saveCredential(configDir: string, credential: Credential): void {
  const kept = readCredentials(configDir).filter((entry) => !sameKey(entry, credential))
  writeJson(credentialsPath(configDir), { credentials: [...kept, credential] })
}

/** @returns whether there was one */
export function removeCredential(configDir: string, key: { origin: string; context?: string }): boolean {
  const all = readCredentials(configDir)
  const kept = all.filter((entry) => !sameKey(entry, key))
  if (kept.length === all.length) return false
  writeJson(credentialsPath(configDir), { credentials: kept })
  return true
}

function sameKey(a: { origin: string; context?: string }, b: { origin: string; context?: string }): boolean {
  return a.origin === b.origin && a.context === b.context
}

/** Refuses a file with secrets that others may read; access on Windows is by list, not by mode. */
export function refuseShared(path: string): void {
  if (process.platform === 'win32') return
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) === 0) return
  throw new CliError(`${path} must be readable by its owner only, its mode is ${mode.toString(8)}`, {
    code: 'shared-secret',
    exit: EXIT.notAllowed,
    hint: `\`chmod 600 ${path}\``,
  })
}
