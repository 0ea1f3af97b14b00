import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../../contract/errors.js'
import { toNonEmptyString } from '../../lib/json/values.js'
import { CliError } from '../cli-error.js'
import { readJsonObject } from '../json-file.js'

/** Stores the session of the last query in a space, for `--session last`. */

function getPath(stateDir: string): string {
  return join(stateDir, 'sessions.json')
}

/** @throws CliError exit 5 if the space had no query yet */
export function getLastSession(stateDir: string, spaceId: string): string {
  const id = toNonEmptyString(readJsonObject(getPath(stateDir))[spaceId])
  if (id !== undefined) return id
  throw new CliError('no previous session in this space', {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: '`--session new` starts one',
  })
}

/** Stores a session; ignores failures. */
export function saveLastSession(stateDir: string, spaceId: string, sessionId: string): void {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 })
    const all = { ...readJsonObject(getPath(stateDir)), [spaceId]: sessionId }
    writeFileSync(getPath(stateDir), JSON.stringify(all), { mode: 0o600 })
  } catch {
    // `--session last` then uses an earlier session.
  }
}
