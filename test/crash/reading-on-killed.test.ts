import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { makePdf, scansOf, sheetOf } from '../engine/readers/render/make-pdf.js'
import { rowsOf } from '../helpers/databases.js'
import { until } from '../helpers/until.js'

/** more pages than the first compilation reads; all but the first are pictures */
const PAGES = 26
const SCANNED = PAGES - 1
const KILLS = 4
const WAIT_MS = 400_000

const home = temporaryFolder('reading-on')
const rows = rowsOf(home.path)
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

const kept = (): number[] =>
  rows.all<{ page: number }>('SELECT page FROM ocr_pages ORDER BY page').map(({ page }) => page)

test(`a published scan whose pages are still being read is completed after ${KILLS} kills, with no page stored twice`, {
  timeout: 3 * WAIT_MS,
}, async () => {
  const words = Array.from(
    { length: PAGES },
    (_, n) => `boat${String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26))}`,
  )
  const sheets = words.map((word, n) =>
    sheetOf(
      Array.from({ length: 6 }, (_, line) => `The ${word} of berth ${n + 1} was seen by keeper ${line} at noon.`),
    ),
  )
  const scans = await scansOf(sheets, 150)
  // The first page contains text, so that the others can be read later.
  const scan = makePdf(sheets.map((sheet, n) => ({ ...sheet, ...(n === 0 ? {} : { picture: scans[n] ?? failed() }) })))
  daemon = await startDaemon(home.path)
  const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Scans', slug: 'scans' } })
  // Stored pages must not be updated: a job that tries fails.
  await rows.run(
    "CREATE TRIGGER twice BEFORE UPDATE ON ocr_pages BEGIN SELECT RAISE(ABORT, 'a page was read twice'); END",
  )
  await daemon.client.upload('POST /knowledge-spaces/{id}/documents', {
    path: { id },
    field: 'file',
    files: [{ filename: 'scan.pdf', mimeType: 'application/pdf', content: { bytes: scan } }],
  })
  const published = () => rows.value("SELECT count(*) FROM documents WHERE parser_status = 'parsed'")
  await until(() => published() === 1, WAIT_MS)
  expect(kept().length).toBeLessThan(SCANNED)

  let before: number[] = []
  let inTheMiddle = 0
  for (let kill = 0; kill < KILLS; kill++) {
    // Alternates between a kill right after a stored page and one while further pages are read.
    const last = kept().length
    if (kill % 2 === 1) await until(() => kept().length > last || last === SCANNED, WAIT_MS)
    await daemon.kill()
    const now = kept()
    expect(now).toEqual(expect.arrayContaining(before))
    if (now.length < SCANNED) inTheMiddle++
    before = now
    daemon = await startDaemon(home.path)
  }
  expect(inTheMiddle).toBeGreaterThan(1)

  await until(() => kept().length === SCANNED, WAIT_MS)
  const { client } = daemon
  const waiting = async (): Promise<boolean> => {
    const { items } = await client.request('GET /knowledge-spaces/{id}/documents', { path: { id } })
    const [document] = items
    if (document === undefined) return true
    const { metadata } = await client.request(
      'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
      {
        path: { id, documentId: document.id, version: String(document.version) },
      },
    )
    return Object(Object(metadata).ocr).waiting !== undefined || Object(Object(metadata).ocr).pages !== SCANNED
  }
  await until(async () => !(await waiting()), WAIT_MS)
  for (const word of [words[0], words.at(-1)]) {
    const { items } = await client.request('POST /knowledge-spaces/{id}/queries/search', {
      path: { id },
      body: { query: `Which keeper saw the ${word}?` },
    })
    expect(JSON.stringify(items)).toContain(word)
  }
  const { issues } = await client.request('GET /knowledge-spaces/{id}/fsck', { path: { id } })
  expect(issues).toEqual([])
  await daemon.kill()
})

function failed(): never {
  throw new Error('a sheet was not drawn')
}
