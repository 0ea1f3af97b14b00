import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, rankedDocuments } from '../lib/ask.js'
import { type BenchDaemon, ROOT, startDaemon, temporaryFolder } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'
import { fillSpace } from '../lib/upload.js'

/**
 * Documents of one sentence in languages that write compounds in one word, and questions that say one in parts (`joined`:
 * the document holds the compound) or ask for one that the document says in parts (`parts`). `foreign` are questions that
 * no document answers, many of which share a part of a compound. The set `tune` was looked at while the splitter was
 * made; `report` is of other topics.
 */
const SETS = ['tune', 'report'] as const
const BARS = { found: { atLeast: 0.85 }, wrong: { atMost: 0 }, refused: { atLeast: 0.9 } }

interface Sample {
  documents: string[]
  questions: { text: string; document: number; kind: 'joined' | 'parts' }[]
  foreign: string[]
}

interface Tally {
  asked: number
  found: number
  wrong: number
  foreign: number
  refused: number
}

export async function run(): Promise<Figure[]> {
  const data: Record<string, Record<(typeof SETS)[number], Sample>> = JSON.parse(
    readFileSync(join(ROOT, 'bench', 'meaning', 'data', 'compounds.json'), 'utf8'),
  )
  const home = temporaryFolder('bench-compounds')
  const daemon = await startDaemon(join(home.path, 'data'))
  try {
    const figures: Figure[] = []
    for (const set of SETS) {
      const german: Tally = { asked: 0, found: 0, wrong: 0, foreign: 0, refused: 0 }
      const others = { ...german }
      for (const [language, samples] of Object.entries(data))
        await measure(daemon, `${language}-${set}`, samples[set], language === 'de' ? german : others)
      figures.push(...figuresOf(`${set}, German`, german), ...figuresOf(`${set}, five others`, others))
    }
    return figures
  } finally {
    await daemon.stop()
    home.remove()
  }
}

async function measure(daemon: BenchDaemon, slug: string, sample: Sample, tally: Tally): Promise<void> {
  const files = sample.documents.map((text, place) => ({ filename: `${place}.md`, text: `${text}\n` }))
  const { spaceId, documents } = await fillSpace(daemon.client, slug, files)
  for (const { text, document, kind } of sample.questions) {
    const { bundle } = await ask(daemon.client, spaceId, text)
    const isFirst = rankedDocuments(bundle)[0] === documents.get(`${document}.md`)
    const isFound = isFirst && bundle?.state !== 'not-enough-evidence'
    tally.asked++
    if (isFound) tally.found++
    else process.stdout.write(`    ${slug} ${bundle?.state}${isFirst ? '' : ', another first'}, ${kind}: ${text}\n`)
    if (!isFirst && bundle?.state === 'answerable') tally.wrong++
  }
  for (const text of sample.foreign) {
    const { bundle } = await ask(daemon.client, spaceId, text)
    tally.foreign++
    if (bundle?.state === 'not-enough-evidence') tally.refused++
    else process.stdout.write(`    ${slug} ${bundle?.state}, foreign: ${text}\n`)
  }
}

function figuresOf(name: string, { asked, found, wrong, foreign, refused }: Tally): Figure[] {
  const note = `of ${asked}`
  return [
    { name: `${name}: found`, value: found / asked, unit: '', note, bar: BARS.found },
    { name: `${name}: wrong`, value: wrong, unit: '', note, bar: BARS.wrong },
    { name: `${name}: foreign refused`, value: refused / foreign, unit: '', note: `of ${foreign}`, bar: BARS.refused },
  ]
}
