import { writeSync } from 'node:fs'
import { type LocalDirs, localDirs } from '../local/dirs.js'
import { askerOf, lazily } from './completing/asker.js'
import { KeptAnswers } from './completing/kept.js'
import { type Kind, KS, kindOf, type Names } from './completing/kinds.js'
import { type Around, localValues, serviceValues } from './completing/values.js'
import { type Asked, askedOf, candidateLines, flagValue } from './completing/words.js'
import { resolveSettings, type Settings } from './contexts.js'
import { recallIds } from './recent-ids.js'

/** Values for shell completion: requested from a running daemon only, fast, and silent on failure. */

/** A service that does not respond blocks the shell for at most this time. */
const WAIT_MS = 1000

/** A program with shell completion. */
export interface Completed {
  program: 'ks' | 'kchat'
  names: Names
  /** Values that only this program can list; `undefined` for kinds that both programs have. */
  own(kind: Kind, where: Where): Promise<readonly string[]> | undefined
}

/** What a program needs to list its own values. */
export interface Where {
  asked: Asked
  dirs: LocalDirs
  settings(): Settings
}

/** `ks __complete SHELL …`: prints candidates, one a line. */
export async function complete(argv: readonly string[]): Promise<void> {
  await completeFor(argv, { program: 'ks', names: KS, own: () => undefined })
}

/** Prints candidates; prints nothing on any failure. */
export async function completeFor(argv: readonly string[], completed: Completed): Promise<void> {
  const timer = setTimeout(() => process.exit(0), WAIT_MS)
  try {
    const asked = askedOf(argv)
    const found = kindOf(asked, completed.names)
    if (found === undefined) return
    const wanted = asked.typed.slice(found.head.length)
    print(candidateLines(await valuesOf(found.kind, wanted, asked, completed), asked, found.head))
  } catch {
    // Error output would disturb the shell's prompt.
  } finally {
    clearTimeout(timer)
  }
}

/** Avoids `process.stdout`: loading it takes as long as a request to the daemon. */
function print(text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) rest = rest.subarray(writeSync(1, rest))
}

async function valuesOf(
  kind: Kind,
  wanted: string,
  asked: Asked,
  { program, own }: Completed,
): Promise<readonly string[]> {
  const dirs = localDirs()
  // The end of an id that was shown before.
  if (/^#[0-9a-f]*$/.test(wanted)) return recallIds(dirs.cache, '').map((id) => `#${id.slice(-8)}`)
  const local = localValues(kind, dirs, program)
  if (local !== undefined) return local
  const where: Where = { asked, dirs, settings: () => settingsOf(asked, dirs) }
  const theirs = own(kind, where)
  return theirs === undefined ? await ofService(kind, wanted, where) : await theirs
}

async function ofService(kind: Kind, wanted: string, { settings: read, dirs }: Where): Promise<readonly string[]> {
  const settings = read()
  const place = settings.place.value
  const kept = new KeptAnswers(dirs.cache, JSON.stringify(place))
  const around = { kept, space: settings.space?.value }
  const asker = lazily(() => askerOf(place))
  try {
    return await serviceValues(kind, wanted, { ...around, asker } satisfies Around)
  } finally {
    asker.close()
  }
}

function settingsOf({ words }: Asked, dirs: LocalDirs): Settings {
  const flags = {
    context: flagValue(words, ['--context']),
    url: flagValue(words, ['--url']),
    tokenFile: flagValue(words, ['--token-file']),
    space: flagValue(words, ['--space', '-s']),
    mode: undefined,
    autostart: false,
  }
  return resolveSettings({ flags, env: process.env, cwd: process.cwd(), dirs })
}
