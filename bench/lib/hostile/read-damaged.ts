import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import type { CompileResult, ContainedSink } from '../../../src/engine/store/compiled.js'
import { numbers } from '../words.js'
import { damaged } from './damage.js'
import type { Sample } from './files.js'

/** A damaged file of some kilobytes that needs more processor time hangs. */
const HANGS_MS = 20_000

/** How the damaged files of one sample ended. */
export interface Outcome {
  name: string
  seed: number
  read: number
  /** with a reason that the reader gives */
  told: number
  /** with "could not be read": of these nobody thought */
  unforeseen: string[]
  /** they ended the reading process, which is told */
  crashed: string[]
  /** they were ended by the limit of time, or of memory */
  ranOut: string[]
  /** without a reason, or without the name of the file */
  untold: string[]
}

const SINK: ContainedSink = { begin() {}, async write() {}, async end() {} }

/**
 * Reads damaged copies of samples in the reading process.
 *
 * @param each how many of each sample
 * @param folder takes the files; those that ended badly are named with their place in it
 */
export async function readDamaged(
  samples: readonly Sample[],
  { each, seed, folder }: { each: number; seed: number; folder: string },
  onOutcome: (outcome: Outcome) => void = () => undefined,
): Promise<Outcome[]> {
  const compiler = createCompiler({ children: 1, limits: { processorMs: HANGS_MS }, inForeground: true })
  const outcomes: Outcome[] = []
  try {
    for (const [place, sample] of samples.entries()) {
      const own = seed + place
      const requests = damagedFiles(sample, each, own, join(folder, String(place)))
      const results = await compiler.compile(requests, undefined, { containedSink: SINK })
      const outcome = judged(sample.name, own, requests, results)
      outcomes.push(outcome)
      onOutcome(outcome)
    }
  } finally {
    await compiler.close()
  }
  return outcomes
}

function damagedFiles({ name, bytes }: Sample, each: number, seed: number, folder: string) {
  const random = numbers(seed)
  // the first number of neighbouring seeds is nearly the same
  for (let skipped = 0; skipped < 8; skipped++) random()
  mkdirSync(folder, { recursive: true })
  return Array.from({ length: each }, (_, index) => {
    const path = join(folder, `${index}-${name}`)
    writeFileSync(path, damaged(bytes, random))
    return { path, filename: name, depth: 0 }
  })
}

function judged(
  name: string,
  seed: number,
  requests: readonly { path: string }[],
  results: readonly CompileResult[],
): Outcome {
  const outcome: Outcome = { name, seed, read: 0, told: 0, unforeseen: [], crashed: [], ranOut: [], untold: [] }
  for (const [index, { path }] of requests.entries()) {
    const result = results[index]
    if (result?.ok === true) {
      outcome.read++
      continue
    }
    const { code, message } = result?.failure ?? { code: undefined, message: 'no answer' }
    const said = `${path}: ${code}: ${message}`
    const ranOut = code === 'timeout' || (code === 'limit-exceeded' && message.includes('needed more than'))
    if (!message.includes(name)) outcome.untold.push(said)
    else if (code === 'crashed') outcome.crashed.push(said)
    else if (ranOut) outcome.ranOut.push(said)
    else if (message.includes('could not be read:')) outcome.unforeseen.push(said)
    else outcome.told++
  }
  return outcome
}
