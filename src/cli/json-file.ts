import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { EXIT } from '../contract/errors.js'
import { isRecord } from '../lib/json/values.js'
import { readIfExists, writePrivateFile } from '../local/private-file.js'
import { CliError } from './cli-error.js'

/** Reads the JSON object of a file; empty for an absent or empty file. @throws CliError exit 2 for other content */
export function readJsonObject(path: string): Record<string, unknown> {
  const text = readIfExists(path)
  return text === undefined || text.trim() === '' ? {} : parseJsonObject(path, text)
}

/** Parses the JSON object of a file. @param path for the message @throws CliError exit 2 if it is not a JSON object */
export function parseJsonObject(path: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new CliError(`${path} is not valid JSON`, { code: 'bad-config', exit: EXIT.usage, cause })
  }
  if (!isRecord(value))
    throw new CliError(`${path} must contain a JSON object`, { code: 'bad-config', exit: EXIT.usage })
  return value
}

/** Replaces the file atomically; only its owner can read it. */
export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`)
}
