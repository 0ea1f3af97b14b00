import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { analyzeContent, forEachTerm } from '../../src/lib/text/analyze.js'
import { ask, rankedDocuments } from '../lib/ask.js'
import { type BenchDaemon, ROOT, startDaemon, temporaryFolder } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'
import { fillSpace } from '../lib/upload.js'

/**
 * Ten documents of one sentence and five plain questions a language, asked of a real daemon with the languages apart.
 * The set `tune` was looked at while the analyser was made, `report` only for defects of whole
 * kinds; both are of other topics.
 */
const SETS = ['tune', 'report'] as const
/** Those of the bar; the others are told beside it. */
const BARRED = ['zh', 'ja', 'ko', 'de', 'ar', 'ru', 'th', 'en', 'fr']
const BARS = { found: { atLeast: 40 }, wrong: { atMost: 0 }, refused: { atLeast: 0.9 } }

interface Sample {
  documents: string[]
  questions: { text: string; document: number }[]
}

interface Tally {
  asked: number
  found: number
  first: number
  matched: number
  /** answerable although another document is first */
  wrong: number
  foreign: number
  refused: number
}

const NOTHING: Tally = { asked: 0, found: 0, first: 0, matched: 0, wrong: 0, foreign: 0, refused: 0 }

/** Questions that no document answers are those of the other set, and four of general knowledge. */
export async function run(): Promise<Figure[]> {
  const data: Record<string, Record<(typeof SETS)[number], Sample> & { foreign: string[] }> = JSON.parse(
    readFileSync(join(ROOT, 'bench', 'meaning', 'data', 'languages.json'), 'utf8'),
  )
  const only = process.env['BENCH_LANGUAGES']?.split(',')
  const languages = Object.keys(data).filter((language) => only?.includes(language) ?? true)
  const home = temporaryFolder('bench-languages')
  const daemon = await startDaemon(join(home.path, 'data'))
  try {
    const figures: Figure[] = []
    for (const set of SETS) {
      const total = { barred: { ...NOTHING }, others: { ...NOTHING } }
      for (const language of languages) {
        const { [set]: sample, foreign } = data[language]!
        const others = data[language]![set === 'tune' ? 'report' : 'tune'].questions.map(({ text }) => text)
        const tally = await measure(
          daemon,
          `${language}-${set}`,
          sample,
          set === 'tune' ? foreign : [...foreign, ...others],
        )
        add(BARRED.includes(language) ? total.barred : total.others, tally)
        process.stdout.write(`  ${language} ${set}: ${told(tally)}\n`)
      }
      figures.push(...figuresOf(`${set}, nine languages`, total.barred, set === 'report'))
      figures.push(...figuresOf(`${set}, ${languages.length - 9} others`, total.others, false))
    }
    return figures
  } finally {
    await daemon.stop()
    home.remove()
  }
}

async function measure(daemon: BenchDaemon, slug: string, sample: Sample, foreign: readonly string[]): Promise<Tally> {
  const files = sample.documents.map((text, place) => ({ filename: `${place}.md`, text: `${text}\n` }))
  const { spaceId, documents } = await fillSpace(daemon.client, slug, files)
  const tally = { ...NOTHING }
  for (const { text, document } of sample.questions) {
    const { bundle } = await ask(daemon.client, spaceId, text)
    const isFirst = rankedDocuments(bundle)[0] === documents.get(`${document}.md`)
    const state = bundle?.state
    const isFound = isFirst && state !== 'not-enough-evidence'
    tally.asked++
    if (isFirst) tally.first++
    if (isFound) tally.found++
    if (shareTerm(text, sample.documents[document]!)) tally.matched++
    if (!isFirst && state === 'answerable') tally.wrong++
    if (!isFound)
      process.stdout.write(
        `    ${state}${isFirst ? '' : ', another first'}: ${text} (${analyzeContent(text).join(' ')})\n`,
      )
  }
  for (const text of foreign) {
    const { bundle } = await ask(daemon.client, spaceId, text)
    tally.foreign++
    if (bundle?.state === 'not-enough-evidence') tally.refused++
    else process.stdout.write(`    ${bundle?.state}, foreign: ${text} (${analyzeContent(text).join(' ')})\n`)
  }
  return tally
}

function shareTerm(question: string, document: string): boolean {
  const asked = new Set(analyzeContent(question))
  let isShared = false
  forEachTerm(document, (term) => {
    isShared ||= asked.has(term)
  })
  return isShared
}

function add(total: Tally, { asked, found, first, matched, wrong, foreign, refused }: Tally): void {
  total.asked += asked
  total.found += found
  total.first += first
  total.matched += matched
  total.wrong += wrong
  total.foreign += foreign
  total.refused += refused
}

function told({ asked, found, first, matched, wrong, foreign, refused }: Tally): string {
  return `found ${found} of ${asked}, first ${first}, a term matched ${matched}, wrong ${wrong}, foreign refused ${refused} of ${foreign}`
}

function figuresOf(name: string, tally: Tally, isBarred: boolean): Figure[] {
  const { asked, found, first, matched, wrong, foreign, refused } = tally
  if (asked === 0) return []
  const note = `of ${asked}`
  return [
    { name: `${name}: found`, value: found, unit: '', note, ...(isBarred && { bar: BARS.found }) },
    { name: `${name}: wrong`, value: wrong, unit: '', note, ...(isBarred && { bar: BARS.wrong }) },
    { name: `${name}: right document first`, value: first, unit: '', note },
    { name: `${name}: a term matched`, value: matched, unit: '', note },
    {
      name: `${name}: foreign refused`,
      value: refused / foreign,
      unit: '',
      note: `of ${foreign}`,
      ...(isBarred && { bar: BARS.refused }),
    },
  ]
}
