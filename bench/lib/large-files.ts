import { utils, write } from '@e965/xlsx'
import { buildStoredZip } from '../../src/engine/readers/archive/zip-store.js'
import { createRandom, drawWord, makeProse } from './words.js'

/** The same bytes on every machine. */
export interface LargeFile {
  filename: string
  mimeType: string
  bytes: Buffer
}

const SEED = 8_000
const SECTION_CHARACTERS = 1_200
const ROW_COLUMNS = 8
const LINES_PER_PAGE = 50
const LINE_CHARACTERS = 90
const SLIDE_CHARACTERS = 800

/** Functions that create a file of a format; `size` is the size of the text before packing, in bytes. */
export const FORMATS: Record<string, (size: number) => LargeFile> = {
  markdown: (size) => ({
    filename: 'large.md',
    mimeType: 'text/markdown',
    bytes: buildBytes(
      size,
      (random, index) => `## ${makeTitle(random)} ${index}\n\n${makeProse(random, SECTION_CHARACTERS)}\n`,
    ),
  }),
  text: (size) => ({
    filename: 'large.txt',
    mimeType: 'text/plain',
    bytes: buildBytes(size, (random) => `${makeProse(random, SECTION_CHARACTERS)}\n`),
  }),
  csv: (size) => ({
    filename: 'large.csv',
    mimeType: 'text/csv',
    bytes: buildBytes(
      size,
      (random, index) => `${index},${makeCells(random).join(',')}\n`,
      `id,${Array.from({ length: ROW_COLUMNS }, (_, column) => `column ${column}`).join(',')}\n`,
    ),
  }),
  html: (size) => ({
    filename: 'large.html',
    mimeType: 'text/html',
    bytes: buildBytes(
      size,
      (random, index) => `<h2>${makeTitle(random)} ${index}</h2><p>${makeProse(random, SECTION_CHARACTERS)}</p>\n`,
      '<!doctype html><title>Large</title>\n',
    ),
  }),
  json: (size) => ({
    filename: 'large.json',
    mimeType: 'application/json',
    bytes: buildBytes(
      size,
      (random, index) =>
        `${index === 0 ? '' : ',\n'}${JSON.stringify({ id: index, name: makeTitle(random), text: makeProse(random, 300) })}`,
      '[',
      ']',
    ),
  }),
  docx: (size) => ({ filename: 'large.docx', mimeType: `${OFFICE}.wordprocessingml.document`, bytes: makeDocx(size) }),
  xlsx: (size) => ({ filename: 'large.xlsx', mimeType: `${OFFICE}.spreadsheetml.sheet`, bytes: makeXlsx(size) }),
  pptx: (size) => ({
    filename: 'large.pptx',
    mimeType: `${OFFICE}.presentationml.presentation`,
    bytes: makePptx(size),
  }),
  pdf: (size) => ({ filename: 'large.pdf', mimeType: 'application/pdf', bytes: makePdf(size) }),
}

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const SCHEMAS = 'http://schemas.openxmlformats.org'

function buildBytes(
  size: number,
  createPiece: (random: () => number, index: number) => string,
  head = '',
  tail = '',
): Buffer {
  const random = createRandom(SEED)
  const parts = [head]
  let length = head.length
  for (let index = 0; length < size; index++) {
    const next = createPiece(random, index)
    parts.push(next)
    length += next.length
  }
  return Buffer.from(`${parts.join('')}${tail}`)
}

function makeTitle(random: () => number): string {
  return `${drawWord(random)} ${drawWord(random)}`
}

function makeCells(random: () => number): string[] {
  return Array.from({ length: ROW_COLUMNS }, () => makeTitle(random))
}

function formatRelations(rows: readonly (readonly [id: string, kind: string, target: string])[]): Buffer {
  const list = rows.map(
    ([id, kind, target]) =>
      `<Relationship Id="${id}" Type="${SCHEMAS}/officeDocument/2006/relationships/${kind}" Target="${target}"/>`,
  )
  return Buffer.from(`<Relationships xmlns="${SCHEMAS}/package/2006/relationships">${list.join('')}</Relationships>`)
}

const CONTENT_TYPES = Buffer.from(`<Types xmlns="${SCHEMAS}/package/2006/content-types"/>`)

function makeDocx(size: number): Buffer {
  const body = buildBytes(
    size,
    (random, index) =>
      `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>${makeTitle(random)} ${index}</w:t></w:r></w:p>` +
      `<w:p><w:r><w:t>${makeProse(random, SECTION_CHARACTERS)}</w:t></w:r></w:p>`,
    `<w:document xmlns:w="${SCHEMAS}/wordprocessingml/2006/main"><w:body>`,
    '</w:body></w:document>',
  )
  return buildStoredZip([
    ['[Content_Types].xml', CONTENT_TYPES],
    ['_rels/.rels', formatRelations([['r1', 'officeDocument', 'word/document.xml']])],
    ['word/document.xml', body],
  ])
}

function makeXlsx(size: number): Buffer {
  const random = createRandom(SEED)
  const rows: string[][] = []
  for (let length = 0; length < size; ) {
    const row = makeCells(random)
    rows.push(row)
    length += row.join(' ').length
  }
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Sheet')
  return Buffer.from(write(book, { type: 'buffer', bookType: 'xlsx' }))
}

function makePptx(size: number): Buffer {
  const random = createRandom(SEED)
  const count = Math.max(1, Math.ceil(size / SLIDE_CHARACTERS))
  const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
  const slides = Array.from({ length: count }, (_, index) =>
    Buffer.from(
      '<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody>' +
        `${paragraph(`${makeTitle(random)} ${index}`)}</p:txBody></p:sp><p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>` +
        `${paragraph(makeProse(random, SLIDE_CHARACTERS))}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
    ),
  )
  const list = slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`)
  return buildStoredZip([
    ['[Content_Types].xml', CONTENT_TYPES],
    ['ppt/presentation.xml', Buffer.from(`<p:presentation><p:sldIdLst>${list.join('')}</p:sldIdLst></p:presentation>`)],
    [
      'ppt/_rels/presentation.xml.rels',
      formatRelations(slides.map((_, index) => [`rId${index + 1}`, 'slide', `slides/slide${index + 1}.xml`] as const)),
    ],
    ...slides.map((content, index) => [`ppt/slides/slide${index + 1}.xml`, content] as const),
  ])
}

/** Creates pages of plain lines in a standard font. */
function makePdf(size: number): Buffer {
  const random = createRandom(SEED)
  const count = Math.max(1, Math.ceil(size / (LINES_PER_PAGE * LINE_CHARACTERS)))
  const objects: string[] = []
  const getPageNumber = (index: number) => 4 + index * 2
  objects[1] = '<< /Type /Catalog /Pages 2 0 R >>'
  objects[2] = `<< /Type /Pages /Count ${count} /Kids [${Array.from({ length: count }, (_, index) => `${getPageNumber(index)} 0 R`).join(' ')}] >>`
  objects[3] = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
  for (let index = 0; index < count; index++) {
    const lines = Array.from(
      { length: LINES_PER_PAGE },
      (_, line) => `(${makeProse(random, LINE_CHARACTERS).trim()}) Tj ${line % 10 === 9 ? '0 -20' : '0 -13'} Td`,
    )
    const stream = `BT /F1 10 Tf 40 800 Td ${lines.join('\n')} ET`
    objects[getPageNumber(index)] =
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${getPageNumber(index) + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`
    objects[getPageNumber(index) + 1] = `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`
  }
  const parts = ['%PDF-1.4\n']
  const offsets: number[] = []
  let offset = parts[0]!.length
  for (let number = 1; number < objects.length; number++) {
    offsets[number] = offset
    const part = `${number} 0 obj\n${objects[number]}\nendobj\n`
    parts.push(part)
    offset += part.length
  }
  const table = offsets.slice(1).map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  parts.push(
    `xref\n0 ${objects.length}\n0000000000 65535 f \n${table.join('')}`,
    `trailer\n<< /Size ${objects.length} /Root 1 0 R >>\nstartxref\n${offset}\n%%EOF\n`,
  )
  return Buffer.from(parts.join(''), 'latin1')
}
