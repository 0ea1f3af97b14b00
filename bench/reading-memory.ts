/**
 * The most memory that the process that reads documents holds while it reads text in pictures:
 * `npm run bench:reading-memory -- [SECONDS]`. A process for each file; SECONDS of processor time (60) for the pages of a scan, of which
 * the daemon takes 10 at a time. Pictures of the shared data are read where they are there.
 */
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setInterval } from 'node:timers'
import { globSync } from 'tinyglobby'
import { createCompiler } from '../src/engine/parse/compiler.js'
import type { Bitmap } from '../src/engine/parse/render/bitmap.js'
import { encodePng } from '../src/engine/parse/render/png.js'
import { makeTiff } from '../test/engine/parse/ocr/picture-files.js'
import { makeScan, type PdfSheet, scansOf, sheetOf } from '../test/engine/parse/render/make-pdf.js'
import { temporaryFolder } from './lib/daemon.js'
import { memoryOf } from './lib/process-memory.js'
import { type Figure, printFigures, report } from './lib/report.js'
import { numbers, prose } from './lib/words.js'

const MIB = 1024 * 1024
const MOST_MIB = 400
const SAMPLE_MS = 50
const SCANNED_PAGES = 40
const SCAN_DPI = 300
/** pixels a side; 50 million are decoded at most */
const HUGE = 7_000

const budgetMs = Number(process.argv[2] ?? 60) * 1000
const folder = temporaryFolder('reading-memory')
const random = numbers(3)
const figures: Figure[] = []
for (const [name, path] of await files()) {
  const figure = await measured(name, path)
  printFigures([figure])
  figures.push(figure)
}
folder.remove()
report('reading-memory', figures)

async function measured(name: string, path: string): Promise<Figure> {
  const compiler = createCompiler({ children: 1 })
  let most = 0
  const sampling = setInterval(() => {
    for (const pid of compiler.pids()) most = Math.max(most, memoryOf(pid, 'VmHWM'))
  }, SAMPLE_MS)
  try {
    const ocr = { languages: { codes: ['eng'] }, budgetMs }
    const [result] = await compiler.compile([{ path, filename: basename(path), ocr }])
    for (const pid of compiler.pids()) most = Math.max(most, memoryOf(pid, 'VmHWM'))
    const pages = result?.ok === true ? `${result.document.recognised.length} pages or pictures read` : 'not read'
    const why = result?.ok === false ? `: ${result.failure.message}` : ''
    return { name, value: Math.round(most / MIB), unit: 'MiB', bar: { atMost: MOST_MIB }, note: `${pages}${why}` }
  } finally {
    clearInterval(sampling)
    await compiler.close()
  }
}

async function files(): Promise<[string, string][]> {
  const written = (name: string, bytes: Buffer): string => {
    const path = join(folder.path, name)
    writeFileSync(path, bytes)
    return path
  }
  const huge = await hugePage()
  const pixels = `${Math.round((huge.width * huge.height) / 1e6)} million pixels`
  const scan = await makeScan(Array.from({ length: SCANNED_PAGES }, sheet), SCAN_DPI)
  return [
    [`a scan of ${SCANNED_PAGES} pages`, written('scan.pdf', scan)],
    [`PNG of ${pixels}`, written('huge.png', encodePng(huge))],
    [`TIFF of ${pixels}`, written('huge.tiff', makeTiff([huge], { deflate: true }))],
    ...shared(),
  ]
}

/** A page in the corner of a sheet that is nearly as large as is decoded. */
async function hugePage(): Promise<Bitmap> {
  const [page] = await scansOf([sheet()], SCAN_DPI)
  if (page === undefined) throw new Error('nothing was drawn')
  const data = new Uint8Array(HUGE * HUGE).fill(255)
  for (let y = 0; y < page.height; y++) data.set(page.data.subarray(y * page.width, (y + 1) * page.width), y * HUGE)
  return { ...page, width: HUGE, height: HUGE, data }
}

function shared(): [string, string][] {
  const { KS_SHARED_DATA: data } = process.env
  if (data === undefined) return []
  return globSync('mixed-docs/**/*.{png,jpg,jpeg,tif,tiff}', { cwd: data }).map((path) => [
    basename(path),
    join(data, path),
  ])
}

function sheet(): PdfSheet {
  return sheetOf(Array.from({ length: 40 }, () => prose(random, 78).trim()))
}
