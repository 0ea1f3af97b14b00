import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../lib/json/values.js'
import type { ConverterSetting } from './converter-setting.js'
import { readIfExists, writePrivateFile } from './private-file.js'
import type { ProviderSetting } from './provider-setting.js'

/**
 * Path of `programs.json` in the configuration folder: the command lines that this user allows daemons to start. A data
 * directory has a separate `config.json` and may come from a backup or from another person: a program that it names
 * runs only after it was allowed on this machine.
 */
export function getProgramsPath(configDir: string): string {
  return join(configDir, 'programs.json')
}

/** First element of an entry that lists paths instead of a command line. */
const PATHS_ENTRY = '{paths}'

/** @returns no programs where the file is missing or has another form: nothing is allowed then */
export function readAllowedPrograms(configDir: string): readonly string[][] {
  try {
    const value: unknown = JSON.parse(readIfExists(getProgramsPath(configDir)) ?? '{}')
    return isRecord(value) && Array.isArray(value.programs) ? value.programs.filter(isArgv) : []
  } catch {
    return []
  }
}

/** Allows command lines in addition to those that are allowed. */
export function allowPrograms(configDir: string, programs: readonly string[][]): void {
  const allowed = readAllowedPrograms(configDir)
  const added = programs.filter((argv) => !isListed(argv, allowed))
  if (added.length === 0) return
  mkdirSync(configDir, { recursive: true, mode: 0o700 })
  writePrivateFile(getProgramsPath(configDir), `${JSON.stringify({ programs: [...allowed, ...added] }, null, 2)}\n`)
}

/** The command lines that a provider starts. */
export function listProviderPrograms(provider: ProviderSetting): string[][] {
  return [provider.speech, provider.transcription].flatMap((program) =>
    program === undefined ? [] : toEntries([program.convert, program.argv], program.paths),
  )
}

/** The entries that a converter needs in the list of allowed programs. */
export function listConverterPrograms({ argv, paths }: ConverterSetting): string[][] {
  return toEntries([argv], paths)
}

/** Command lines, and an entry with the paths that they may read: paths are allowed like programs. */
function toEntries(programs: readonly (string[] | undefined)[], paths: readonly string[] = []): string[][] {
  return [...programs, paths.length === 0 ? undefined : [PATHS_ENTRY, ...paths]].filter((argv) => argv !== undefined)
}

/** The command lines that are not allowed. */
export function findDisallowedPrograms(programs: readonly string[][], allowed: readonly string[][]): string[][] {
  return programs.filter((argv) => !isListed(argv, allowed))
}

function isListed(argv: readonly string[], programs: readonly string[][]): boolean {
  return programs.some(
    (entry) => entry.length === argv.length && entry.every((argument, index) => argument === argv[index]),
  )
}

function isArgv(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((argument) => typeof argument === 'string')
}
