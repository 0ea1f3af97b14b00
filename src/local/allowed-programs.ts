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
export function programsPath(configDir: string): string {
  return join(configDir, 'programs.json')
}

/** First element of an entry that lists paths instead of a command line. */
const PATHS = '{paths}'

/** @returns no programs where the file is missing or has another form: nothing is allowed then */
export function allowedPrograms(configDir: string): readonly string[][] {
  try {
    const value: unknown = JSON.parse(readIfExists(programsPath(configDir)) ?? '{}')
    return isRecord(value) && Array.isArray(value.programs) ? value.programs.filter(isArgv) : []
  } catch {
    return []
  }
}

/** Allows command lines in addition to those that are allowed. */
export function allowPrograms(configDir: string, programs: readonly string[][]): void {
  const known = allowedPrograms(configDir)
  const added = programs.filter((argv) => !isAmong(argv, known))
  if (added.length === 0) return
  mkdirSync(configDir, { recursive: true, mode: 0o700 })
  writePrivateFile(programsPath(configDir), `${JSON.stringify({ programs: [...known, ...added] }, null, 2)}\n`)
}

/** The command lines that a provider starts. */
export function programsOf(provider: ProviderSetting): string[][] {
  return [provider.speech, provider.transcription].flatMap((program) =>
    program === undefined ? [] : commandLines([program.convert, program.argv], program.paths),
  )
}

/** The entries that a converter needs in the list of allowed programs. */
export function converterPrograms({ argv, paths }: ConverterSetting): string[][] {
  return commandLines([argv], paths)
}

/** Command lines, and an entry with the paths that they may read: paths are allowed like programs. */
function commandLines(programs: readonly (string[] | undefined)[], paths: readonly string[] = []): string[][] {
  return [...programs, paths.length === 0 ? undefined : [PATHS, ...paths]].filter((argv) => argv !== undefined)
}

/** The command lines that are not allowed. */
export function disallowedPrograms(programs: readonly string[][], allowed: readonly string[][]): string[][] {
  return programs.filter((argv) => !isAmong(argv, allowed))
}

function isAmong(argv: readonly string[], programs: readonly string[][]): boolean {
  return programs.some((one) => one.length === argv.length && one.every((word, index) => word === argv[index]))
}

function isArgv(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')
}
