import { ask } from '../lib/ask.js'
import { KS, runKs, startDaemon, temporaryFolder } from '../lib/daemon.js'
import { isRight, loadOwnSets, loadSharedSets, type PlainQuestion, type QuestionSet } from './questions.js'
import type { Verdict } from './verdicts.js'

/** Judges the product's answers without a model, over HTTP; each folder becomes a space. */
export async function judgeProduct(): Promise<Map<string, Verdict[]>> {
  const { path, remove } = temporaryFolder('answers')
  const daemon = await startDaemon(path)
  const verdicts = new Map<string, Verdict[]>()
  try {
    for (const { name, folder, questions } of [...loadOwnSets(), ...loadSharedSets()]) {
      await ingest(path, { name, folder, questions })
      const { items } = await daemon.client.request('GET /knowledge-spaces', { query: {} })
      const spaceId = items.find(({ slug }) => slug === name)!.id
      const judged: Verdict[] = []
      for (const one of questions) judged.push(toVerdict(one, await ask(daemon.client, spaceId, one.question)))
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

function toVerdict(question: PlainQuestion, { text, bundle }: Awaited<ReturnType<typeof ask>>): Verdict {
  const state = bundle?.state
  // marks such as [2] are not part of the answer
  const answer = text.replace(/\s*\[\d+\]/gu, '')
  const isRefused = state === 'not-enough-evidence'
  return {
    isAnswered: !question.isUnanswerable,
    isRight: !question.isUnanswerable && !isRefused && isRight(question, answer),
    isSure: state === 'answerable' || state === 'conflict',
    isRefused,
    length: answer.length,
  }
}
