import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { DEFAULT_LIMITS } from '../../src/engine/readers/limits.js'
import { compileBytes } from '../../src/engine/readers/read-document.js'
import { openPages } from '../../src/engine/readers/render/pdf-pages.js'
import { makePdf, sheetOf } from '../../test/engine/readers/render/make-pdf.js'
import { encodePng } from '../../test/helpers/png.js'
import { ROOT } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'

const DPI = 300
const CLEAN_PAGES = 6
const MAX_WRONG_CLEAN = 0.03
const MAX_WRONG_SCANS = 0.12
const LINES = 40
const LETTERS = 78

interface Sample {
  name: string
  text: string
  picture: Buffer
}

/** Pages that are there twice: as a picture, and as a PDF with a text in the order in which it is read. */
const TWINS = [
  ['img/DA-1p.png', 'pdf/DA-1p.pdf'],
  ['img/layout-parser-paper-with-table.jpg', 'pdf/layout-parser-paper-with-table.pdf'],
] as const

/**
 * Measures how well text in pictures is read: the fraction of wrong characters and the processor time of a page, for clean
 * pages of 300 dpi made from text and, if the shared data are present, for pictures of pages that also exist as PDF with text.
 *
 * @param folder further pictures, each next to a `.txt` of the same name
 */
export async function measureCharacters(folder?: string): Promise<Figure[]> {
  const twins = await loadTwins(join(process.env.KS_SHARED_DATA ?? '', 'mixed-docs'))
  return [
    ...(await measure('clean pages', await renderCleanPages(), MAX_WRONG_CLEAN)),
    ...(twins.length > 0 ? await measure('shared scans', twins, MAX_WRONG_SCANS) : []),
    ...(folder === undefined ? [] : await measure(folder, loadFolder(folder), MAX_WRONG_SCANS)),
  ]
}

async function measure(name: string, samples: readonly Sample[], atMost: number): Promise<Figure[]> {
  let wrong = 0
  let letters = 0
  let cpu = 0
  for (const sample of samples) {
    const start = process.cpuUsage()
    const actual = await readText(sample.name, sample.picture)
    const { user, system } = process.cpuUsage(start)
    const expected = normalizeText(sample.text)
    const errors = computeEditDistance(expected, normalizeText(actual))
    process.stdout.write(
      `${sample.name}: ${((100 * errors) / expected.length).toFixed(2)} % of ${expected.length} characters wrong, ${Math.round((user + system) / 1000)} ms of processor time\n`,
    )
    wrong += errors
    letters += expected.length
    cpu += (user + system) / 1000
  }
  return [
    { name: `${name}: wrong characters`, value: wrong / letters, unit: '', bar: { atMost } },
    { name: `${name}: processor time of a page`, value: cpu / samples.length, unit: 'ms' },
  ]
}

async function readText(filename: string, bytes: Buffer): Promise<string> {
  const { elements } = await compileBytes(bytes, { filename }, DEFAULT_LIMITS)
  return elements.map(({ text = '' }) => text).join(' ')
}

/** Sentences of this project's pages, set in Helvetica of 11 points, as pictures. */
async function renderCleanPages(): Promise<Sample[]> {
  const words = ['concepts.md', 'storage.md', 'reliability.md', 'configuration.md']
    .flatMap((page) => readFileSync(join(ROOT, 'docs', page), 'utf8').split('\n'))
    .filter((line) => /^(?:[A-Z]|- )/.test(line))
    .map((line) =>
      line
        .replace(/^- /, '')
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[`*]/g, ''),
    )
    .filter((line) => /^[\x20-\x7e]{60,}$/.test(line))
    .join(' ')
    .split(' ')
  const samples: Sample[] = []
  for (let page = 0; page < CLEAN_PAGES && words.length > 0; page++) {
    const lines = takeLines(words)
    const pages = await openPages(makePdf([sheetOf(lines, 11)]), 'clean.pdf')
    const picture = encodePng(pages.render(1, { dpi: DPI, grey: true }))
    pages.close()
    samples.push({ name: `clean page ${page + 1}`, text: lines.join(' '), picture })
  }
  return samples
}

/** Takes the words of a page. */
function takeLines(words: string[]): string[] {
  const lines: string[] = []
  while (lines.length < LINES && words.length > 0) {
    let line = words.shift() ?? ''
    while (words[0] !== undefined && line.length + words[0].length < LETTERS) line += ` ${words.shift()}`
    lines.push(line)
  }
  return lines
}

async function loadTwins(folder: string): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const [picture, pdf] of TWINS) {
    if (!existsSync(join(folder, picture))) continue
    const text = await readText(pdf, readFileSync(join(folder, pdf)))
    samples.push({ name: picture, text, picture: readFileSync(join(folder, picture)) })
  }
  return samples
}

function loadFolder(folder: string): Sample[] {
  return globSync('**/*.txt', { cwd: folder }).flatMap((name) => {
    const base = join(folder, name.slice(0, -'.txt'.length))
    const picture = ['.png', '.jpg', '.tif', '.pdf'].map((ending) => base + ending).find((path) => existsSync(path))
    if (picture === undefined) return []
    return [{ name: picture, text: readFileSync(`${base}.txt`, 'utf8'), picture: readFileSync(picture) }]
  })
}

/**
 * What two ways of typesetting have alike: words and signs, single spaces, straight quotes, no dashes of other lengths.
 */
function normalizeText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201b\u0060]/g, "'")
    .replace(/[\u201c\u201d\u201f]|''/g, '"')
    .replace(/[\u2010-\u2015]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Letters to be put in, left out or changed to make one text of the other (Levenshtein). */
function computeEditDistance(one: string, other: string): number {
  let last = Uint32Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const row = new Uint32Array(other.length + 1)
    row[0] = i
    for (let j = 1; j <= other.length; j++) {
      const changed = last[j - 1]! + (one.charCodeAt(i - 1) === other.charCodeAt(j - 1) ? 0 : 1)
      row[j] = Math.min(changed, last[j]! + 1, row[j - 1]! + 1)
    }
    last = row
  }
  return last[other.length]!
}
