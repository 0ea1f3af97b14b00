import { afterEach, expect, it } from 'vitest'
import { rowsOf } from '../../helpers/databases.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { until } from '../../helpers/until.js'
import { makeScan, sheetOf } from '../readers/render/make-pdf.js'

/** Far longer than a busy machine needs. */
const DEADLINE_MS = 240_000
const PLACES = ['harbour', 'lighthouse', 'windmill']

let test: TestEngine | undefined
afterEach(async () => {
  await test?.end()
  test = undefined
})

const scan = () =>
  makeScan(
    PLACES.map((place, at) =>
      sheetOf([
        `# Report ${at + 1}`,
        `The ${place} of Port Ellery was repaired in the year ${1900 + at}.`,
        'Its keeper wrote every day.',
      ]),
    ),
    150,
  )

/** The metadata of the newest version, with its text. */
async function newest({ engine }: TestEngine, spaceId: string, documentId: string) {
  const { version } = await engine.documents.get(ADA, spaceId, documentId)
  const { metadata, elements } = await engine.documents
    .parseArtifact(ADA, spaceId, documentId, version)
    .then((body) => body.value())
  return { version, metadata, elements, text: elements.map(({ text = '' }) => text).join('\n') }
}

it('a long scan is published with its first page, and the text of the other pages follows after a restart', {
  timeout: DEADLINE_MS,
}, async () => {
  // One page at a time: the first one is read whatever its cost.
  test = await startEngine({ ocrBudgetMs: 1 })
  const { id } = await test.engine.spaces.create(ADA, { name: 'Scans', slug: 'scans' })
  const [made] = await ingest(test.engine, ADA, id, { 'scan.pdf': await scan() })
  const documentId = String(made?.asset.id)
  const first = await test.engine.documents.parseArtifact(ADA, id, documentId, 1).then((body) => body.value())
  expect(first.metadata).toMatchObject({ pageCount: 3, ocr: { pages: 1, waiting: 2 } })
  await test.reopen()
  const { engine } = test
  const running = test
  const pages = () => rowsOf(running.dataDir).all('SELECT page FROM ocr_pages').length
  await until(async () => (await newest(running, id, documentId)).text.includes('windmill'), DEADLINE_MS)
  const last = await newest(running, id, documentId)
  expect(last.metadata).toMatchObject({ pageCount: 3, ocr: { pages: 3 } })
  expect(last.metadata).not.toHaveProperty('ocr.waiting')
  for (const place of PLACES) expect(last.text).toContain(place)
  const words = last.elements.flatMap(({ metadata }): unknown[] => Object(metadata.ocr).words ?? [])
  expect(words.length).toBeGreaterThan(40)
  await until(async () => (await engine.activity()).waitingJobs === 0)
  expect((await newest(test, id, documentId)).version).toBe(last.version)

  const answer = await ask(engine, ADA, id, 'When was the windmill of Port Ellery repaired?')
  expect(answer.answer).toContain('1902')
  const { items }: { items: { text: string }[] } = Object(answer.done.metadata?.evidenceBundle)
  const found = JSON.stringify(items.find(({ text }) => text.includes('windmill')))
  expect(found).toContain('"pageNumber":3')
  expect(Number(/"ocr":\{"confidence":(\d+)\}/.exec(found)?.[1])).toBeGreaterThan(80)

  // Each page was read once.
  expect(pages()).toBe(3)
  await engine.documents.delete(ADA, id, [documentId])
  await until(() => pages() === 0)
})
