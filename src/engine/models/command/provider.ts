import { constants } from 'node:fs'
import { type FileHandle, mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Confinement } from '../../../local/confinement/confinement.js'
import type { ProgramSetting } from '../../../local/provider-setting.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { detectAudioType } from '../audio-type.js'
import type { ModelProvider } from '../provider.js'
import type { AudioRecording } from '../types.js'
import { fillPlaceholders, hasPlaceholder, type PlaceholderValues } from './program.js'
import { type ProgramRun, runProgram } from './run.js'

const MAX_AUDIO_BYTES = 64 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024
/** Timestamps that whisper.cpp and Whisper write before each line: `[00:00.000 --> 00:02.500]` */
const TIMESTAMPS = /^\s{0,20}\[[\d:.,]{5,20} --> [\d:.,]{5,20}\]/gm
const MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024

/** Local programs for speech and transcription: espeak-ng, piper, whisper.cpp, pocketsphinx and the like. */
export function createCommandProvider(
  programs: { speech?: ProgramSetting; transcription?: ProgramSetting },
  confinement: Confinement,
): ModelProvider {
  const { speech, transcription } = programs
  return {
    ...(speech === undefined
      ? {}
      : {
          speaker: ({ name }) => ({
            speak: async ({ text, voice, language }, signal) => {
              const input = { bytes: Buffer.from(text), extension: 'txt' }
              const values = toPlaceholders(speech, { model: name, voice, language })
              const audio = await withTemporaryFolder((folder) =>
                runCall(folder, { program: speech, confinement, input, values, maxBytes: MAX_AUDIO_BYTES, signal }),
              )
              const mimeType = detectAudioType(audio)
              if (mimeType === undefined) throw new ProviderFailure('malformed', 'no audio')
              return { audio, mimeType }
            },
          }),
        }),
    ...(transcription === undefined
      ? {}
      : {
          transcriber: ({ name: model }) => ({
            transcribe: async (audio, signal) => {
              const call = { model, maxBytes: MAX_TEXT_BYTES, confinement, signal }
              const text = await runTranscription(transcription, audio, call)
              return text.replace(TIMESTAMPS, '').replace(/\s+/g, ' ').trim()
            },
            listen: async (recording, signal) => {
              const call = { model, maxBytes: MAX_TRANSCRIPT_BYTES, confinement, signal }
              return { text: await runTranscription(transcription, recording, call) }
            },
          }),
        }),
    close: async () => {},
  }
}

interface ProgramCall {
  program: ProgramSetting
  confinement: Confinement
  input: { bytes: Uint8Array; extension: string }
  values: PlaceholderValues
  maxBytes: number
  signal: AbortSignal
}

/** The output of a transcription program, unchanged. */
async function runTranscription(
  program: ProgramSetting,
  { bytes, extension, language }: AudioRecording,
  { model, ...call }: Pick<ProgramCall, 'confinement' | 'maxBytes' | 'signal'> & { model: string },
): Promise<string> {
  const values = toPlaceholders(program, { model, language })
  const text = await withTemporaryFolder((folder) =>
    runCall(folder, { ...call, program, input: { bytes, extension }, values }),
  )
  return text.toString('utf8')
}

interface VoiceChoice {
  model: string
  voice?: string | undefined
  language?: string | undefined
}

function toPlaceholders(program: ProgramSetting, { model, voice, language }: VoiceChoice): PlaceholderValues {
  return { model, voice: voice || (program.voice ?? ''), language: language || (program.language ?? '') }
}

/** Runs one call: input by stdin or in a file, output from stdout or from a file. */
async function runCall(
  folder: string,
  { program: { argv, convert, paths = [] }, confinement, input, values, maxBytes, signal }: ProgramCall,
): Promise<Buffer> {
  let stdin: ProgramRun['stdin'] = input.bytes
  let convertedFile: FileHandle | undefined
  let path = join(folder, `input.${input.extension}`)
  const base = { folder, paths, confinement, maxBytes, signal }
  if (convert !== undefined || hasPlaceholder(argv, 'input')) await writeFile(path, input.bytes)
  if (convert !== undefined) {
    const converted = join(folder, 'converted.wav')
    await runProgram({
      ...base,
      argv: convert,
      filled: fillPlaceholders(convert, { ...values, input: path, output: converted }),
    })
    path = converted
    // streamed, because an hour of audio would take too much memory
    convertedFile = await openOutput(converted)
    stdin = convertedFile.createReadStream()
  }
  try {
    const output = join(folder, 'output')
    const filled = fillPlaceholders(argv, { ...values, input: path, output })
    const stdout = await runProgram({
      ...base,
      argv,
      filled,
      ...(hasPlaceholder(argv, 'input') ? {} : { stdin }),
    })
    return hasPlaceholder(argv, 'output') ? readBounded(output, maxBytes) : stdout
  } finally {
    await convertedFile?.close()
  }
}

/** Opens a file that a program wrote. A link is not followed: it may lead to a file of the daemon. */
async function openOutput(path: string): Promise<FileHandle> {
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
  const file = await openOutput(path)
  try {
    if ((await file.stat()).size > maxBytes) throw new ProviderFailure('malformed', `more than ${maxBytes} bytes`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** Runs work in a temporary directory that only this call uses. */
async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ks-command-')))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
