import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../lib/json/values.js'
import type { ConverterSetting } from './converter-setting.js'
import { readIfExists, writePrivateFile } from './private-file.js'
import type { ProviderSetting } from './provider-setting.js'

/**
 * The command lines that this user lets daemons start, in `programs.json` of the configuration folder. A data directory
 * carries its own `config.json`, and may come from a backup or from somebody else: what it names as a program runs
 * only after somebody has said so on this machine.
 */
export function programsPath(configDir: string): string {
  return join(configDir, 'programs.json')
}

/** First element of an entry that is a list of paths and no command line. */
const PATHS = '{paths}'

/** @returns no program where the file is absent or is not what we write: then nothing is allowed */
export function allowedPrograms(configDir: string): readonly string[][] {
  try {
    const value: unknown = JSON.parse(readIfExists(programsPath(configDir)) ?? '{}')
    return isRecord(value) && Array.isArray(value.programs) ? value.programs.filter(isArgv) : []
  } catch {
    return []
  }
}

/** Allows command lines beside those that are allowed. */
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

/** The entries that a converter needs on the list of allowed programs. */
export function converterPrograms({ argv, paths }: ConverterSetting): string[][] {
  return commandLines([argv], paths)
}

/** Command lines, and a further entry with the paths that they may read: those are allowed like a program. */
function commandLines(programs: readonly (string[] | undefined)[], paths: readonly string[] = []): string[][] {
  return [...programs, paths.length === 0 ? undefined : [PATHS, ...paths]].filter((argv) => argv !== undefined)
}

/** Those of some command lines that are not allowed. */
export function disallowedPrograms(programs: readonly string[][], allowed: readonly string[][]): string[][] {
  return programs.filter((argv) => !isAmong(argv, allowed))
}

function isAmong(argv: readonly string[], programs: readonly string[][]): boolean {
  return programs.some((one) => one.length === argv.length && one.every((word, index) => word === argv[index]))
}

function isArgv(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')
}
