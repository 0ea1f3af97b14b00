import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ask } from './ask.js'
import { ROOT, startDaemon, temporaryFolder } from './daemon.js'
import type { Figure } from './report.js'
import { untilSettled } from './settled.js'
import { untilPublished, uploadOne } from './upload.js'

const SET = 'financebench-sample'
const MODES = ['fast', 'deep'] as const

interface Question {
  _id: string
  text: string
  file: string
}

/**
 * FinanceBench questions whose answer stands in a table, asked of a daemon that holds the seven filings in one space: in
 * how many does one passage of the evidence hold the row that the answer is computed from, by figures read by hand.
 */
export async function tableQuestions(data: string, verbose: boolean): Promise<Figure[]> {
  const folder = join(data, SET)
  const questions = lines<Question>(join(folder, 'questions.jsonl'))
  const wanted = lines<{ question: string; row: string[] }>(join(ROOT, 'bench', 'tables', 'questions.jsonl'))
  const home = temporaryFolder('bench-tables')
  const daemon = await startDaemon(join(home.path, 'data'))
  try {
    const { client } = daemon
    const { id } = await client.request('POST /knowledge-spaces', { body: { name: SET, slug: SET } })
    for (const file of new Set(questions.map((question) => question.file))) {
      const bytes = readFileSync(join(folder, file))
      const documentId = await uploadOne(client, id, { filename: basename(file), mimeType: 'application/pdf', bytes })
      await untilPublished(client, id, documentId)
    }
    await untilSettled(client)
    const figures: Figure[] = []
    for (const mode of MODES) {
      let held = 0
      for (const { question, row } of wanted) {
        const text = questions.find(({ _id }) => _id === question)?.text ?? ''
        const { bundle } = await ask(client, id, text, mode)
        const found = (bundle?.items ?? []).some((item) => row.every((figure) => item.text.includes(figure)))
        if (found) held++
        else if (verbose) process.stdout.write(`${mode} lacks ${row.join(', ')}: ${text}\n`)
      }
      const note = `${wanted.length} questions of FinanceBench`
      const bar = mode === 'fast' ? { bar: { atLeast: 0.6 } } : {}
      figures.push({ name: `${mode} the row in the evidence`, value: held / wanted.length, unit: '', note, ...bar })
    }
    return figures
  } finally {
    await daemon.stop()
    home.remove()
  }
}

function lines<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}
