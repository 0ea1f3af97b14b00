import type { getDocumentProxy } from 'unpdf'
import { lazy } from '../../../lib/lazy.js'
import type { PageWithText } from '../ocr/page-text.js'
import { reportProgress } from '../progress.js'
import { SEAM } from '../unread/word-counts.js'
import { readGlyphs } from './page-glyphs.js'
import type { DocumentAnnotations, Remark } from './pdf-annotations.js'
import { PdfFonts, readFont } from './pdf-fonts.js'
import { type PdfLine, readLines, type TextRun } from './pdf-lines.js'
import { removeOverprints } from './pdf-overprint.js'
import { collectRemarks } from './pdf-remarks.js'
import { insertShownTexts } from './pdf-shown.js'
import { mirrorBox, mirrorRuns, orderRightToLeft } from './right-to-left.js'
import { findPageTables, toShownBox } from './table-pages.js'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

interface ReadPage extends PageWithText {
  broken: boolean
  remarks: Remark[]
  /** The text of its runs, those on one baseline joined by seams: what its lines must contain. */
  source: string[]
  /** Lines of the texts that the page shows above its content, and the lines that contain them. */
  shown?: { lines: PdfLine[]; within: readonly PdfLine[] }
}

/** Reads the text of all pages. A page that cannot be read is broken. */
export async function readPages(pdf: Pdf, annotations: DocumentAnnotations): Promise<ReadPage[]> {
  const pages: ReadPage[] = []
  const fonts = new PdfFonts()
  for (let number = 1; number <= pdf.numPages; number++) {
    reportProgress('page', number, pdf.numPages)
    try {
      pages.push(await readPage(pdf, number, fonts, annotations))
    } catch {
      pages.push({
        number,
        lines: [],
        raw: '',
        broken: true,
        source: [],
        remarks: annotations.pages.get(number)?.remarks ?? [],
      })
    }
  }
  return pages
}

async function readPage(
  pdf: Pdf,
  number: number,
  fonts: PdfFonts,
  annotations: DocumentAnnotations,
): Promise<ReadPage> {
  const page = await pdf.getPage(number)
  const content = await page.getTextContent()
  const printed: TextRun[] = []
  // several users may need it, and it costs as much as the text
  const operators = lazy(() => page.getOperatorList())
  await fonts.learn(page, Object.keys(content.styles), operators)
  for (const item of content.items) if ('str' in item) printed.push({ ...item, look: fonts.lookOf(item.fontName) })
  const getGlyphs = async () =>
    await readGlyphs({ operators: await operators(), getFont: (name) => readFont(page, name) })
  const { runs: ordered, isMirrored } = await orderRightToLeft(removeOverprints(printed), getGlyphs)
  const mirror = isMirrored ? mirrorBox : <Area>(area: Area): Area => area
  const notes = annotations.pages.get(number)
  const shown = (notes?.shown ?? []).map((text) => ({ ...text, rect: mirror(text.rect) }))
  const runs = insertShownTexts(isMirrored ? mirrorRuns(ordered) : ordered, shown, page.rotate)
  const tables = await findPageTables(runs, operators, isMirrored)
  const lines = readLines(runs, tables)
  const viewport = page.getViewport({ scale: 1 })
  for (const table of tables)
    table.shown = toShownBox(mirror(table.box), (x, y) => viewport.convertToViewportPoint(x, y))
  const raw = runs.map(({ str }) => str).join(' ')
  const remarks = notes === undefined ? [] : await collectRemarks(notes, raw, operators)
  page.cleanup()
  const placed = isMirrored ? lines.map((line) => ({ ...line, isMirrored })) : lines
  const alone = shown.length === 0 ? [] : readLines(insertShownTexts([], shown, page.rotate))
  return {
    number,
    lines: placed,
    raw,
    source: joinBaselines(runs),
    broken: false,
    remarks: remarks.map((remark) => ({ ...remark, rect: mirror(remark.rect) })),
    ...(alone.length === 0 ? {} : { shown: { lines: alone, within: placed } }),
  }
}

function joinBaselines(runs: readonly TextRun[]): string[] {
  const lines: string[] = []
  let parts: string[] = []
  let baseline: number | undefined
  for (const { str, transform } of runs) {
    if (transform[5] !== baseline) lines.push(parts.join(SEAM))
    if (transform[5] !== baseline) parts = []
    baseline = transform[5]
    parts.push(str)
  }
  return [...lines, parts.join(SEAM)]
}

/** Adds the texts that a page shows above its content again where OCR replaced its lines and did not see them. */
export function keepShownTexts(page: ReadPage): void {
  if (page.shown === undefined || page.lines === page.shown.within) return
  const text = page.lines.map((line) => line.text.replace(/\s+/g, '')).join('')
  const isMissing = (line: PdfLine): boolean => !text.includes(line.text.replace(/\s+/g, ''))
  page.lines = [...page.lines, ...page.shown.lines.filter(isMissing)]
}
