import { constants } from 'node:fs'
import { type FileHandle, mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Confinement } from '../../../local/confinement/confinement.js'
import type { ProgramSetting } from '../../../local/provider-setting.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { audioTypeOf } from '../audio-type.js'
import type { Provider } from '../provider.js'
import type { AudioToRead } from '../types.js'
import { filled, type Placeholders, uses } from './program.js'
import { type Run, runProgram } from './run.js'

const MAX_AUDIO_BYTES = 64 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024
/** Timestamps that whisper.cpp and Whisper write before each line: `[00:00.000 --> 00:02.500]` */
const TIMES = /^\s{0,20}\[[\d:.,]{5,20} --> [\d:.,]{5,20}\]/gm
const MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024

/** Local programs for speech and transcription: espeak-ng, piper, whisper.cpp, pocketsphinx and the like. */
export function commandProvider(
  programs: { speech?: ProgramSetting; transcription?: ProgramSetting },
  confinement: Confinement,
): Provider {
  const { speech, transcription } = programs
  return {
    ...(speech === undefined
      ? {}
      : {
          speaker: ({ name }) => ({
            speak: async ({ text, voice, language }, signal) => {
              const input = { bytes: Buffer.from(text), extension: 'txt' }
              const values = chosen(speech, { model: name, voice, language })
              const audio = await inFolder((folder) =>
                run(folder, speech, confinement, input, values, MAX_AUDIO_BYTES, signal),
              )
              const mimeType = audioTypeOf(audio)
              if (mimeType === undefined) throw new ProviderFailure('malformed', 'no audio')
              return { audio, mimeType }
            },
          }),
        }),
    ...(transcription === undefined
      ? {}
      : {
          transcriber: ({ name }) => ({
            transcribe: async (audio, signal) => {
              const text = await heard(transcription, confinement, name, audio, MAX_TEXT_BYTES, signal)
              return text.replace(TIMES, '').replace(/\s+/g, ' ').trim()
            },
            listen: async (recording, signal) => ({
              text: await heard(transcription, confinement, name, recording, MAX_TRANSCRIPT_BYTES, signal),
            }),
          }),
        }),
    close: async () => {},
  }
}

/** The output of a transcription program, unchanged. */
async function heard(
  program: ProgramSetting,
  confinement: Confinement,
  model: string,
  { bytes, extension, language }: AudioToRead,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const values = chosen(program, { model, language })
  const text = await inFolder((folder) =>
    run(folder, program, confinement, { bytes, extension }, values, maxBytes, signal),
  )
  return text.toString('utf8')
}

interface Chosen {
  model: string
  voice?: string | undefined
  language?: string | undefined
}

function chosen(program: ProgramSetting, { model, voice, language }: Chosen): Placeholders {
  return { model, voice: voice || (program.voice ?? ''), language: language || (program.language ?? '') }
}

/** Runs one call: input by stdin or in a file, output from stdout or from a file. */
async function run(
  folder: string,
  { argv, convert, paths = [] }: ProgramSetting,
  confinement: Confinement,
  given: { bytes: Uint8Array; extension: string },
  values: Placeholders,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  let stdin: Run['stdin'] = given.bytes
  let made: FileHandle | undefined
  let path = join(folder, `input.${given.extension}`)
  const base = { folder, paths, confinement, maxBytes, signal }
  if (convert !== undefined || uses(argv, 'input')) await writeFile(path, given.bytes)
  if (convert !== undefined) {
    const converted = join(folder, 'converted.wav')
    await runProgram({
      ...base,
      argv: convert,
      filled: filled(convert, { ...values, input: path, output: converted }),
    })
    path = converted
    // streamed, because an hour of audio would take too much memory
    made = await openMade(converted)
    stdin = made.createReadStream()
  }
  try {
    const output = join(folder, 'output')
    const words = filled(argv, { ...values, input: path, output })
    const said = await runProgram({ ...base, argv, filled: words, ...(uses(argv, 'input') ? {} : { stdin }) })
    return uses(argv, 'output') ? readBounded(output, maxBytes) : said
  } finally {
    await made?.close()
  }
}

/** Opens a file that a program wrote. A link is not followed: it may lead to a file of the daemon. */
async function openMade(path: string): Promise<FileHandle> {
  const missing = () => new ProviderFailure('program', 'wrote no output')
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const file = await open(path, flags).catch(() => {
    throw missing()
  })
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw missing()
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openMade(path)
  try {
    if ((await file.stat()).size > maxBytes) throw new ProviderFailure('malformed', `more than ${maxBytes} bytes`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** Runs work in a temporary directory that only this call uses. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ks-command-')))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
