import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import type { CompileResult, ContainedSink } from '../../../src/engine/store/compiled.js'
import { createRandom } from '../words.js'
import { damage } from './damage.js'
import type { Sample } from './files.js'

/** A damaged file of some kilobytes that needs more processor time counts as hanging. */
const MAX_PROCESSOR_MS = 20_000

/** How the damaged files of one sample ended. */
export interface Outcome {
  name: string
  seed: number
  read: number
  /** the reader gave a reason */
  rejected: number
  /** "could not be read": an error that the reader does not expect */
  unexpected: string[]
  /** the reading process ended */
  crashed: string[]
  /** over the limit of time or memory */
  overLimit: string[]
  /** the message lacks the name of the file */
  unexplained: string[]
}

const SINK: ContainedSink = { begin() {}, async write() {}, async end() {} }

/** Reads damaged copies of samples in the reading process. @param folder for the copies */
export async function readDamaged(
  samples: readonly Sample[],
  { copies, seed, folder }: { copies: number; seed: number; folder: string },
  onOutcome: (outcome: Outcome) => void = () => undefined,
): Promise<Outcome[]> {
  const compiler = createCompiler({ children: 1, limits: { processorMs: MAX_PROCESSOR_MS }, inForeground: true })
  const outcomes: Outcome[] = []
  try {
    for (const [index, sample] of samples.entries()) {
      const sampleSeed = seed + index
      const requests = writeDamagedFiles(sample, copies, sampleSeed, join(folder, String(index)))
      const results = await compiler.compile(requests, undefined, { containedSink: SINK })
      const outcome = classifyResults(sample.name, sampleSeed, requests, results)
      outcomes.push(outcome)
      onOutcome(outcome)
    }
  } finally {
    await compiler.close()
  }
  return outcomes
}

function writeDamagedFiles({ name, bytes }: Sample, copies: number, seed: number, folder: string) {
  const random = createRandom(seed)
  // the first numbers of consecutive seeds are nearly the same
  for (let skipped = 0; skipped < 8; skipped++) random()
  mkdirSync(folder, { recursive: true })
  return Array.from({ length: copies }, (_, index) => {
    const path = join(folder, `${index}-${name}`)
    writeFileSync(path, damage(bytes, random))
    return { path, filename: name, depth: 0 }
  })
}

function classifyResults(
  name: string,
  seed: number,
  requests: readonly { path: string }[],
  results: readonly CompileResult[],
): Outcome {
  const outcome: Outcome = {
    name,
    seed,
    read: 0,
    rejected: 0,
    unexpected: [],
    crashed: [],
    overLimit: [],
    unexplained: [],
  }
  for (const [index, { path }] of requests.entries()) {
    const result = results[index]
    if (result?.ok === true) {
      outcome.read++
      continue
    }
    const { code, message } = result?.failure ?? { code: undefined, message: 'no answer' }
    const description = `${path}: ${code}: ${message}`
    const isOverLimit = code === 'timeout' || (code === 'limit-exceeded' && message.includes('needed more than'))
    if (!message.includes(name)) outcome.unexplained.push(description)
    else if (code === 'crashed') outcome.crashed.push(description)
    else if (isOverLimit) outcome.overLimit.push(description)
    else if (message.includes('could not be read:')) outcome.unexpected.push(description)
    else outcome.rejected++
  }
  return outcome
}
