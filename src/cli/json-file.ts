import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRecord } from '../lib/json/values.js'
import { readIfExists, writePrivateFile } from '../local/private-file.js'
import { CliError } from './cli-error.js'

/**
 * Reads a JSON object from one of our files. An absent file is an empty object. @throws CliError if it is not a JSON
 * object
 */
export function readJsonObject(path: string): Record<string, unknown> {
  const text = readIfExists(path)
  return text === undefined || text.trim() === '' ? {} : parseJsonObject(path, text)
}

/** Parses the JSON object of a file. @throws CliError if it is not a JSON object */
export function parseJsonObject(path: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new CliError(`${path} is not valid JSON`, { code: 'bad-config', exit: 2, cause })
  }
  if (!isRecord(value)) throw new CliError(`${path} must contain a JSON object`, { code: 'bad-config', exit: 2 })
  return value
}

/** Replaces the file atomically; only its owner can read it. */
export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`)
}
