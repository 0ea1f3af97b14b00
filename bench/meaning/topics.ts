/**
 * Topics of SQuAD's passages, whose articles are known: how pure they are, and whether their names are names. Passages
 * have no titles here, so that names have to come from the texts, and titles in a second run.
 */
import { termHash } from '../../src/engine/derived/passage.js'
import { labelled, topicsOf } from '../../src/engine/views/topics.kernel.js'
import { forEachTerm } from '../../src/lib/text/analyze.js'
import { QUERY_STOP_WORDS } from '../../src/lib/text/stop-words.js'
import { dataFolder, loadDataset, type SourceDocument } from '../lib/datasets.js'
import type { Figure } from '../lib/report.js'

const NAMING_DOCUMENTS = 8

export function run(): Promise<Figure[]> {
  const folder = dataFolder()
  if (folder === undefined) return Promise.resolve([])
  const { documents } = loadDataset(folder, 'squad2-dev')
  // articles of even place were looked at while the rules were made, those of odd place are reported
  const articles = [...new Set(documents.map(({ title }) => title))]
  const half = (rest: number) => documents.filter(({ title }) => articles.indexOf(title) % 2 === rest)
  return Promise.resolve([
    ...measure(half(0), 'tune', false),
    ...measure(half(1), 'report', false),
    ...measure(half(1), 'report, with titles', true),
  ])
}

function measure(documents: readonly SourceDocument[], which: string, withTitles: boolean): Figure[] {
  const groups = topicsOf(documents.map(({ text }, key) => ({ key, ...profileOf(text) }))).filter(
    ({ terms }) => terms.length > 0,
  )
  const labels = labelled(
    groups.map(({ terms, members }) => ({
      terms,
      documents: members.slice(0, NAMING_DOCUMENTS).map(({ key }) => ({
        title: withTitles ? (documents[key]?.title.replaceAll('_', ' ') ?? '') : '',
        headings: [],
        texts: [documents[key]?.text ?? ''],
      })),
    })),
  )
  let pure = 0
  let all = 0
  let plain = 0
  let right = 0
  for (const [place, { members }] of groups.entries()) {
    const counts = new Map<string, number>()
    for (const { key } of members) {
      const title = documents[key]?.title ?? ''
      counts.set(title, (counts.get(title) ?? 0) + 1)
    }
    const [article = '', most = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? []
    pure += most
    all += members.length
    const name = labels[place]?.name ?? ''
    if (isPlain(name)) plain++
    const isSubject = sharesWords(name, article)
    if (isSubject) right++
    if (process.env['KS_BENCH_DETAILS'] !== undefined)
      process.stdout.write(
        `${which} ${isSubject ? 'right' : 'other'} ${name} <- ${article} ${most}/${members.length}\n`,
      )
  }
  const note = `${groups.length} topics of ${documents.length} passages`
  return [
    { name: `passages in a topic of their article (${which})`, value: pure / all, unit: '', note },
    { name: `names without stop words and numbers (${which})`, value: plain / groups.length, unit: '' },
    { name: `names that share a word with the article (${which})`, value: right / groups.length, unit: '' },
  ]
}

function profileOf(text: string): { terms: Int32Array; counts: Uint16Array } {
  const counts = new Map<number, number>()
  forEachTerm(text, (term) => counts.set(termHash(term), (counts.get(termHash(term)) ?? 0) + 1))
  return { terms: Int32Array.from(counts.keys()), counts: Uint16Array.from(counts.values()) }
}

function isPlain(name: string): boolean {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.length > 0 && words.every((word) => !QUERY_STOP_WORDS.has(word) && !/\d/.test(word))
}

function sharesWords(name: string, article: string): boolean {
  const stems = (text: string): Set<string> => {
    const found = new Set<string>()
    forEachTerm(text.replaceAll('_', ' '), (term) => found.add(term))
    return found
  }
  const wanted = stems(article)
  return [...stems(name)].some((stem) => wanted.has(stem))
}
