import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { CliError } from './cli-error.js'
import { readJsonObject, writeJson } from './json-file.js'

/** A token, sent only to the origin that it was stored for. */
export interface Credential {
  origin: string
  /** Absent for any context of this origin. */
  context?: string
  token: string
}

type CredentialKey = Omit<Credential, 'token'>

export function getCredentialsPath(configDir: string): string {
  return join(configDir, 'credentials.json')
}

/** @throws CliError exit 4 if others can read the file */
export function readCredentials(configDir: string): Credential[] {
  const path = getCredentialsPath(configDir)
  if (existsSync(path)) checkPrivate(path)
  const raw = readJsonObject(path).credentials
  const credentials: Credential[] = []
  for (const entry of Array.isArray(raw) ? raw : []) {
    if (!isRecord(entry)) continue
    const [origin, token, context] = [entry.origin, entry.token, entry.context].map(toNonEmptyString)
    if (origin !== undefined && token !== undefined) credentials.push({ origin, token, ...omitUndefined({ context }) })
  }
  return credentials
}

/**
 * Finds the token for an origin: of the context, else one without a context. Without a context, the only token of the
 * origin.
 */
export function findCredential(
  credentials: Credential[],
  origin: string,
  context: string | undefined,
): Credential | undefined {
  const matching = credentials.filter((entry) => entry.origin === origin)
  const exact =
    matching.find((entry) => entry.context === context) ?? matching.find((entry) => entry.context === undefined)
  return exact ?? (context === undefined && matching.length === 1 ? matching[0] : undefined)
}

export function saveCredential(configDir: string, credential: Credential): void {
  const others = readCredentials(configDir).filter((entry) => !isSameKey(entry, credential))
  writeJson(getCredentialsPath(configDir), { credentials: [...others, credential] })
}

/** @returns whether it existed */
export function removeCredential(configDir: string, key: CredentialKey): boolean {
  const all = readCredentials(configDir)
  const others = all.filter((entry) => !isSameKey(entry, key))
  if (others.length === all.length) return false
  writeJson(getCredentialsPath(configDir), { credentials: others })
  return true
}

function isSameKey(a: CredentialKey, b: CredentialKey): boolean {
  return a.origin === b.origin && a.context === b.context
}

/** Rejects a secret file that others can read. Windows uses access control lists, not modes. */
export function checkPrivate(path: string): void {
  if (process.platform === 'win32') return
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) === 0) return
  throw new CliError(`${path} must be readable by its owner only, its mode is ${mode.toString(8)}`, {
    code: 'shared-secret',
    exit: EXIT.notAllowed,
    hint: `\`chmod 600 ${path}\``,
  })
}
