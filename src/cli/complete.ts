import { writeSync } from 'node:fs'
import { type LocalDirs, resolveLocalDirs } from '../local/dirs.js'
import {
  type CompletionLine,
  findFlagValue,
  formatCandidates,
  parseCompletionLine,
} from './completing/completion-line.js'
import { type CompletionKind, type CompletionNames, findCompletionKind, KS_NAMES } from './completing/kinds.js'
import { openServiceReader } from './completing/service-reader.js'
import { listLocalValues, listServiceValues } from './completing/values.js'
import { type CommandSettings, resolveSettings } from './contexts.js'
import { findRecentIds } from './recent-ids.js'

/** Values for shell completion: requested from a running daemon only, fast, and silent on failure. */

/** A service that does not respond blocks the shell for at most this time. */
const COMPLETION_TIMEOUT_MS = 1000

/** A program with shell completion. */
export interface CompletionProgram {
  program: 'ks' | 'kchat'
  names: CompletionNames
  /** Values that only this program can list; `undefined` for kinds that both programs have. */
  listOwnValues(kind: CompletionKind, context: CompletionContext): Promise<readonly string[]> | undefined
}

/** What a program needs to list its own values. */
export interface CompletionContext {
  line: CompletionLine
  dirs: LocalDirs
  settings(): CommandSettings
}

/** `ks __complete SHELL …`: prints candidates, one a line. */
export async function complete(argv: readonly string[]): Promise<void> {
  await completeProgram(argv, { program: 'ks', names: KS_NAMES, listOwnValues: () => undefined })
}

/** Prints candidates; prints nothing on any failure. */
export async function completeProgram(argv: readonly string[], program: CompletionProgram): Promise<void> {
  const timer = setTimeout(() => process.exit(0), COMPLETION_TIMEOUT_MS)
  try {
    const line = parseCompletionLine(argv)
    const match = findCompletionKind(line, program.names)
    if (match === undefined) return
    const prefix = line.typed.slice(match.flagPrefix.length)
    writeStdout(formatCandidates(await listValues(match.kind, prefix, line, program), line, match.flagPrefix))
  } catch {
    // Error output would disturb the shell's prompt.
  } finally {
    clearTimeout(timer)
  }
}

/** Avoids `process.stdout`: loading it takes as long as a request to the daemon. */
function writeStdout(text: string): void {
  let remaining = Buffer.from(text)
  while (remaining.length > 0) remaining = remaining.subarray(writeSync(1, remaining))
}

async function listValues(
  kind: CompletionKind,
  prefix: string,
  line: CompletionLine,
  { program, listOwnValues }: CompletionProgram,
): Promise<readonly string[]> {
  const dirs = resolveLocalDirs()
  if (/^#[0-9a-f]*$/.test(prefix)) return findRecentIds(dirs.cache, '').map((id) => `#${id.slice(-8)}`)
  const local = listLocalValues(kind, dirs, program)
  if (local !== undefined) return local
  const context: CompletionContext = { line, dirs, settings: () => readSettings(line, dirs) }
  const ownValues = listOwnValues(kind, context)
  return ownValues === undefined ? await listRemoteValues(kind, prefix, context) : await ownValues
}

async function listRemoteValues(
  kind: CompletionKind,
  prefix: string,
  context: CompletionContext,
): Promise<readonly string[]> {
  const { service, space } = context.settings()
  const reader = await openServiceReader(service.value)
  if (reader === undefined) return []
  try {
    return await listServiceValues(kind, prefix, { reader, space: space?.value })
  } finally {
    reader.close()
  }
}

function readSettings({ words }: CompletionLine, dirs: LocalDirs): CommandSettings {
  const flags = {
    context: findFlagValue(words, ['--context']),
    url: findFlagValue(words, ['--url']),
    tokenFile: findFlagValue(words, ['--token-file']),
    space: findFlagValue(words, ['--space', '-s']),
    mode: undefined,
    autostart: false,
  }
  return resolveSettings({ flags, env: process.env, cwd: process.cwd(), dirs })
}
