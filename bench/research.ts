/**
 * Right pages of long documents: the filings of `financebench-sample` as PDF in one space, asked in each mode. Questions
 * are people's own with their known pages, and one about each of a sample of the filings' sections.
 * Run with `node scripts/bench.js research`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../src/client/client.js'
import type { DocumentOutline } from '../src/contract/gateway/document-parts.js'
import type { EvidenceBundle } from '../src/contract/gateway/queries.js'
import { ask } from './lib/ask.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { dataFolder } from './lib/datasets.js'
import { type Figure, percentile, report } from './lib/report.js'
import { waitUntilIdle } from './lib/upload.js'

const MODES = ['fast', 'research', 'deep'] as const
/** Questions about sections: this many of them, spread over all sections. */
const SECTION_QUESTIONS = 60
/** A section this long is found by chance. */
const LONGEST_SECTION_PAGES = 5
const POLL_MS = 50

interface Question {
  text: string
  /** `document id:page` of every page that answers */
  pages: Set<string>
}

interface Line {
  text: string
  evidence: { file: string; page0: number }[]
}

const folder = join(dataFolder() ?? '', 'financebench-sample')
if (!existsSync(folder)) process.stdout.write('skipped: no financebench-sample in ../shared/data or KS_SHARED_DATA\n')
else await main()

async function main(): Promise<void> {
  const home = temporaryFolder('bench-research')
  const daemon = await startDaemon(join(home.path, 'data'))
  try {
    const { client } = daemon
    const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'filings', slug: 'filings' } })
    const documents = await upload(client, id)
    await waitUntilIdle(client)
    await untilPagesAreIndexed(client, id)
    const sets = { people: peoplesQuestions(documents), sections: await sectionQuestions(client, id, documents) }
    const figures: Figure[] = []
    for (const [name, questions] of Object.entries(sets)) {
      const recalls = new Map<string, number>()
      for (const mode of MODES) {
        const { recall, refused, times } = await run(client, id, mode, questions)
        recalls.set(mode, recall)
        figures.push({
          name: `${name} ${mode} page recall@10`,
          value: recall,
          unit: '',
          note: `${questions.length} questions`,
        })
        figures.push({ name: `${name} ${mode} refused`, value: refused / questions.length, unit: '' })
        figures.push({ name: `${name} ${mode} query p50`, value: percentile(times, 0.5), unit: 'ms' })
      }
      const gain = (recalls.get('research') ?? 0) - (recalls.get('fast') ?? 0)
      figures.push({ name: `${name} research over fast`, value: gain, unit: '', bar: { atLeast: 0.01 } })
    }
    report('research', figures)
  } finally {
    await daemon.stop()
    home.remove()
  }
}

/** Until then mode `research` answers as `fast` does. */
async function untilPagesAreIndexed(client: Client, id: string): Promise<void> {
  while ((await ask(client, id, 'What is this?', 'research')).metadata['degraded'] === true) await sleep(POLL_MS)
}

async function upload(client: Client, id: string): Promise<Map<string, string>> {
  const files = readdirSync(join(folder, 'pdfs')).map((filename) => ({
    filename,
    mimeType: 'application/pdf',
    content: { bytes: readFileSync(join(folder, 'pdfs', filename)) },
  }))
  const path = { id }
  const answer = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', { path, field: 'files', files })
  return new Map(answer.items.map(({ asset }) => [asset.filename, asset.id]))
}

function peoplesQuestions(documents: ReadonlyMap<string, string>): Question[] {
  const lines = readFileSync(join(folder, 'questions.jsonl'), 'utf8').trim().split('\n')
  return lines.map((text) => {
    const line: Line = JSON.parse(text)
    const pages = line.evidence.map(({ file, page0 }) => `${documents.get(basename(file))}:${page0 + 1}`)
    return { text: line.text, pages: new Set(pages) }
  })
}

async function sectionQuestions(
  client: Client,
  id: string,
  documents: ReadonlyMap<string, string>,
): Promise<Question[]> {
  const all: Question[] = []
  for (const [filename, documentId] of documents) {
    const path = { id, documentId }
    const { nodes } = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', { path })
    const name = filename.replace(/\.pdf$/, '').replaceAll('_', ' ')
    const visit = (node: DocumentOutline['nodes'][number]): void => {
      for (const child of node.children) visit(child)
      const { startPage, endPage, title } = node
      if (node.children.length > 0 || startPage === undefined || endPage === undefined) return
      if (endPage - startPage >= LONGEST_SECTION_PAGES || !/\p{L}{4}.* .*\p{L}{4}/u.test(title)) return
      const pages = Array.from({ length: endPage - startPage + 1 }, (_, place) => `${documentId}:${startPage + place}`)
      all.push({ text: `What does ${name} say in the section ${title}?`, pages: new Set(pages) })
    }
    for (const node of nodes) visit(node)
  }
  const stride = Math.max(1, Math.ceil(all.length / SECTION_QUESTIONS))
  return all.filter((_, place) => place % stride === 0)
}

async function run(
  client: Client,
  id: string,
  mode: (typeof MODES)[number],
  questions: readonly Question[],
): Promise<{ recall: number; refused: number; times: number[] }> {
  const times: number[] = []
  let recall = 0
  let refused = 0
  for (const { text, pages } of questions) {
    const { bundle, ms } = await ask(client, id, text, mode)
    times.push(ms)
    if (bundle?.state === 'not-enough-evidence') refused++
    const found = pagesOf(bundle)
    recall += [...pages].filter((page) => found.has(page)).length / pages.size
  }
  return { recall: recall / Math.max(1, questions.length), refused, times }
}

function pagesOf(bundle: EvidenceBundle | undefined): Set<string> {
  const citations = bundle?.items.flatMap((item) => item.citations) ?? []
  return new Set(citations.map(({ documentAssetId, pageNumber }) => `${documentAssetId}:${pageNumber}`))
}
