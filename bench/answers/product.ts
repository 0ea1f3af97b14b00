import { ask } from '../lib/ask.js'
import { KS, runKs, startDaemon, temporaryFolder } from '../lib/daemon.js'
import { isRight, ownSets, type PlainQuestion, type QuestionSet, sharedSets } from './questions.js'
import type { Verdict } from './verdicts.js'

/** Verdicts on what the product answers without a model: each folder as a space of a daemon, asked over HTTP. */
export async function productVerdicts(): Promise<Map<string, Verdict[]>> {
  const { path, remove } = temporaryFolder('answers')
  const daemon = await startDaemon(path)
  const verdicts = new Map<string, Verdict[]>()
  try {
    for (const { name, folder, questions } of [...ownSets(), ...sharedSets()]) {
      await ingest(path, { name, folder, questions })
      const { items } = await daemon.client.request('GET /knowledge-spaces', { query: {} })
      const spaceId = items.find(({ slug }) => slug === name)!.id
      const judged: Verdict[] = []
      for (const one of questions) judged.push(verdictOf(one, await ask(daemon.client, spaceId, one.q)))
      verdicts.set(name, judged)
    }
    return verdicts
  } finally {
    await daemon.stop()
    remove()
  }
}

async function ingest(dataDir: string, { name, folder }: QuestionSet): Promise<void> {
  const { code, stderr } = await runKs(dataDir, ['ingest', folder, '--space', name, '--create', '--wait'])
  if (code !== 0) throw new Error(`${KS} ingest ${folder} ended with ${code}: ${stderr}`)
}

function verdictOf(question: PlainQuestion, { text, bundle }: Awaited<ReturnType<typeof ask>>): Verdict {
  const state = bundle?.state
  // marks such as [2] are not part of the answer
  const plain = text.replace(/\s*\[\d+\]/gu, '')
  const isRefused = state === 'not-enough-evidence'
  return {
    isAnswered: !question.refuse,
    isRight: !question.refuse && !isRefused && isRight(question, plain),
    isSure: state === 'answerable' || state === 'conflict',
    isRefused,
    length: plain.length,
  }
}
