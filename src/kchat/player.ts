import { accessSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { CliError } from '../cli/cli-error.js'
import { saveBody } from '../cli/save-body.js'
import { EXIT } from '../contract/errors.js'
import { omitUndefined } from '../lib/omit-undefined.js'

/** File extensions of audio that the service may return, by media type. */
const EXTENSIONS = {
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
} as const
type AudioExtension = (typeof EXTENSIONS)[keyof typeof EXTENSIONS]

interface AudioPlayer {
  program: string
  args: string[]
  extensions: readonly AudioExtension[]
}

const ALL_EXTENSIONS = Object.values(EXTENSIONS)

/** Programs that play a file and exit at its end; the file is their last argument. */
const PLAYERS: readonly AudioPlayer[] = [
  { program: 'afplay', args: [], extensions: ['wav', 'mp3', 'flac', 'm4a'] },
  { program: 'pw-play', args: [], extensions: ['wav', 'ogg', 'flac'] },
  { program: 'paplay', args: [], extensions: ['wav', 'ogg', 'flac'] },
  { program: 'aplay', args: ['-q'], extensions: ['wav'] },
  { program: 'mpg123', args: ['-q'], extensions: ['mp3'] },
  { program: 'ffplay', args: ['-nodisp', '-autoexit', '-loglevel', 'error'], extensions: ALL_EXTENSIONS },
  { program: 'mpv', args: ['--no-video', '--really-quiet'], extensions: ALL_EXTENSIONS },
  { program: 'play', args: ['-q'], extensions: ['wav'] },
]

/** Maximum characters of a player's error output that are shown, from its end. */
const MAX_ERROR_CHARACTERS = 300

/** @throws CliError exit 9 if this machine has no player */
export function assertPlayer(): void {
  if (PLAYERS.every(({ program }) => findProgram(program) === undefined)) throw createNoPlayerError('audio')
}

/**
 * Plays audio to its end, or until the signal aborts, with a program on the PATH. Uses a temporary file, which is
 * deleted afterwards.
 *
 * @throws CliError exit 9 if no program plays its type, exit 1 if the player fails
 */
export async function playAudio(body: IncomingMessage, signal?: AbortSignal): Promise<void> {
  const extension = getExtension(body.headers['content-type'] ?? '')
  const player = PLAYERS.find(
    ({ extensions, program }) => extensions.includes(extension) && findProgram(program) !== undefined,
  )
  if (player === undefined) {
    body.destroy()
    throw createNoPlayerError(`${extension} audio`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'kchat-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  const file = join(folder, `answer.${extension}`)
  try {
    await saveBody(body, file)
    if (signal?.aborted !== true) await runPlayer(player, file, signal)
  } finally {
    removeFolder()
    process.off('exit', removeFolder)
  }
}

function getExtension(contentType: string): AudioExtension {
  const [, extension] = Object.entries(EXTENSIONS).find(([type]) => contentType.startsWith(type)) ?? []
  return extension ?? 'wav'
}

async function runPlayer({ program, args }: AudioPlayer, file: string, signal: AbortSignal | undefined): Promise<void> {
  const { execa } = await import('execa')
  // The player ends with this process, however this one ends.
  const { failed, stderr, shortMessage } = await execa(program, [...args, file], {
    stdin: 'ignore',
    stdout: 'ignore',
    reject: false,
    ...omitUndefined({ cancelSignal: signal }),
  })
  if (!failed || signal?.aborted === true) return
  const errorText = (stderr || shortMessage || '').slice(-MAX_ERROR_CHARACTERS)
  throw new CliError(`${program} could not play the audio`, { details: errorText.split('\n').filter(Boolean) })
}

function findProgram(program: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function createNoPlayerError(audioType: string): CliError {
  const names = PLAYERS.map(({ program }) => program).join(', ')
  return new CliError(`no player for ${audioType} is on the PATH (${names})`, {
    code: 'no-player',
    exit: EXIT.notConfigured,
    hint: 'give `-o FILE`',
  })
}
