import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProgramSetting } from '../../../local/provider-setting.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { audioTypeOf } from '../audio-type.js'
import type { Provider } from '../provider.js'
import { filled, type Placeholders, uses } from './program.js'
import { runProgram } from './run.js'

const MAX_AUDIO_BYTES = 64 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024

/** Programs of this machine that speak and listen: espeak-ng, piper, whisper.cpp, pocketsphinx and the like. */
export function commandProvider(programs: { speech?: ProgramSetting; transcription?: ProgramSetting }): Provider {
  const { speech, transcription } = programs
  return {
    ...(speech === undefined
      ? {}
      : {
          speaker: ({ name }) => ({
            speak: async ({ text, voice, language }, signal) => {
              const input = { bytes: Buffer.from(text), extension: 'txt' }
              const values = chosen(speech, { model: name, voice, language })
              const audio = await inFolder((folder) => run(folder, speech, input, values, MAX_AUDIO_BYTES, signal))
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
            transcribe: async ({ bytes, extension, language }, signal) => {
              const values = chosen(transcription, { model: name, language })
              const text = await inFolder((folder) =>
                run(folder, transcription, { bytes, extension }, values, MAX_TEXT_BYTES, signal),
              )
              return text.toString('utf8').replace(/\s+/g, ' ').trim()
            },
          }),
        }),
    close: async () => {},
  }
}

interface Chosen {
  model: string
  voice?: string | undefined
  language?: string | undefined
}

function chosen(program: ProgramSetting, { model, voice, language }: Chosen): Placeholders {
  return { model, voice: voice || (program.voice ?? ''), language: language || (program.language ?? '') }
}

/** One call: its input by stdin or in a file, its output from stdout or from a file. */
async function run(
  folder: string,
  { argv, convert }: ProgramSetting,
  given: { bytes: Uint8Array; extension: string },
  values: Placeholders,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  let input = given.bytes
  let path = join(folder, `input.${given.extension}`)
  const base = { cwd: folder, maxBytes, signal }
  if (convert !== undefined || uses(argv, 'input')) await writeFile(path, input)
  if (convert !== undefined) {
    const converted = join(folder, 'converted.wav')
    await runProgram({ ...base, argv: filled(convert, { ...values, input: path, output: converted }) })
    path = converted
    if (!uses(argv, 'input')) input = await readBounded(path, MAX_AUDIO_BYTES)
  }
  const output = join(folder, 'output')
  const words = filled(argv, { ...values, input: path, output })
  const said = await runProgram({ ...base, argv: words, ...(uses(argv, 'input') ? {} : { stdin: input }) })
  return uses(argv, 'output') ? readBounded(output, maxBytes) : said
}

async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new ProviderFailure('program', 'wrote no output')
  if (found.size > maxBytes) throw new ProviderFailure('malformed', `more than ${maxBytes} bytes`)
  return readFile(path)
}

/** A folder of its own for every call: nobody else reads it, and nothing of it stays. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'ks-command-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
