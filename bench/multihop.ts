/**
 * Questions over two documents, made of SQuAD's (`lib/two-hop.ts`): in how many do both stand in the evidence, in each
 * mode. Run with `node scripts/bench.js multihop`; a set's name runs another set.
 */
import { join } from 'node:path'
import type { Client } from '../src/client/client.js'
import type { QueryBody } from '../src/contract/gateway/queries.js'
import { ask, rankedDocuments } from './lib/ask.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { dataFolder, loadDataset, RETRIEVAL_SETS } from './lib/datasets.js'
import { type Figure, percentile, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { type TwoHopQuestion, twoHopQuestions } from './lib/two-hop.js'
import { fillSpace } from './lib/upload.js'

const MODES = ['fast', 'deep'] as const
const name = RETRIEVAL_SETS.find((set) => set === process.argv[2]) ?? 'squad2-dev'
const folder = dataFolder()
if (folder === undefined) process.stdout.write('skipped: no ../shared/data and no KS_SHARED_DATA\n')
else await main(folder)

async function main(data: string): Promise<void> {
  const set = loadDataset(data, name, 'train')
  const questions = twoHopQuestions(set)
  const home = temporaryFolder('bench-multihop')
  const daemon = await startDaemon(join(home.path, 'data'))
  try {
    const files = set.documents.map(({ id, title, text }) => ({
      filename: `${id}.md`,
      text: `# ${title}\n\n${text}\n`,
    }))
    const { spaceId, documents } = await fillSpace(daemon.client, name, files)
    await untilRead(daemon.client, spaceId)
    await untilSettled(daemon.client)
    const figures: Figure[] = []
    const found = new Map<string, number>()
    for (const mode of MODES) {
      const { both, one, times } = await run(daemon.client, spaceId, documents, questions, mode)
      found.set(mode, both)
      const note = `${questions.length} questions of ${name}`
      figures.push({ name: `${mode} both documents in the evidence`, value: both, unit: '', note })
      figures.push({ name: `${mode} documents in the evidence`, value: one, unit: '' })
      figures.push({ name: `${mode} query p50`, value: percentile(times, 0.5), unit: 'ms' })
    }
    const ratio = (found.get('deep') ?? 0) / (found.get('fast') ?? 1)
    figures.push({ name: 'deep over fast, both documents', value: ratio, unit: 'times', bar: { atLeast: 1.01 } })
    report('multihop', figures)
  } finally {
    await daemon.stop()
    home.remove()
  }
}

/** Asks until no document waits for the graph. */
async function untilRead(client: Client, spaceId: string): Promise<void> {
  for (;;) {
    const { metadata } = await ask(client, spaceId, 'What is this?', 'deep')
    const metrics = metadata['metrics']
    const pending = typeof metrics === 'object' && metrics !== null ? Reflect.get(metrics, 'graphPendingDocuments') : 0
    if (pending === 0) return
  }
}

async function run(
  client: Client,
  spaceId: string,
  documents: ReadonlyMap<string, string>,
  questions: readonly TwoHopQuestion[],
  mode: QueryBody['mode'],
): Promise<{ both: number; one: number; times: number[] }> {
  const times: number[] = []
  let both = 0
  let one = 0
  for (const { text, documents: wanted } of questions) {
    const { bundle, ms } = await ask(client, spaceId, text, mode)
    times.push(ms)
    const evidence = new Set(rankedDocuments(bundle))
    const held = wanted.filter((id) => evidence.has(documents.get(`${id}.md`) ?? '')).length
    one += held / 2 / questions.length
    if (held === 2) both += 1 / questions.length
  }
  return { both, one, times }
}
