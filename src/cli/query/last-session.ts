import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../lib/json/values.js'
import { CliError } from '../cli-error.js'
import { readJsonObject } from '../json-file.js'

/** Stores the session of the last query in a space, for `--session last`. */

function pathOf(stateDir: string): string {
  return join(stateDir, 'sessions.json')
}

/** @throws CliError exit 5 if the space had no query yet */
export function lastSession(stateDir: string, spaceId: string): string {
  const id = textOf(readJsonObject(pathOf(stateDir))[spaceId])
  if (id !== undefined) return id
  throw new CliError('no previous session in this space', {
    code: 'not-found',
    exit: 5,
    hint: '`--session new` starts one',
  })
}

/** Stores a session; ignores failures. */
export function rememberSession(stateDir: string, spaceId: string, sessionId: string): void {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 })
    const all = { ...readJsonObject(pathOf(stateDir)), [spaceId]: sessionId }
    writeFileSync(pathOf(stateDir), JSON.stringify(all), { mode: 0o600 })
  } catch {
    // `--session last` then uses an earlier session.
  }
}
