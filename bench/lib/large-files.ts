import { utils, write } from '@e965/xlsx'
import { buildStoredZip } from '../../src/engine/readers/archive/zip-store.js'
import { numbers, prose, zipfWord } from './words.js'

/** A large file of one format; the same bytes on every machine. */
export interface LargeFile {
  filename: string
  mimeType: string
  bytes: Buffer
}

const SEED = 8_000
const SECTION_CHARACTERS = 1_200
const ROW_COLUMNS = 8
const LINES_A_PAGE = 50
const LINE_CHARACTERS = 90
const SLIDE_CHARACTERS = 800

/** The formats of which files can be made, each with its maker; `size` counts bytes of text before any packing. */
export const FORMATS: Record<string, (size: number) => LargeFile> = {
  markdown: (size) => ({
    filename: 'large.md',
    mimeType: 'text/markdown',
    bytes: pieces(size, (random, place) => `## ${title(random)} ${place}\n\n${prose(random, SECTION_CHARACTERS)}\n`),
  }),
  text: (size) => ({
    filename: 'large.txt',
    mimeType: 'text/plain',
    bytes: pieces(size, (random) => `${prose(random, SECTION_CHARACTERS)}\n`),
  }),
  csv: (size) => ({
    filename: 'large.csv',
    mimeType: 'text/csv',
    bytes: pieces(
      size,
      (random, place) => `${place},${cells(random).join(',')}\n`,
      `id,${Array.from({ length: ROW_COLUMNS }, (_, column) => `column ${column}`).join(',')}\n`,
    ),
  }),
  html: (size) => ({
    filename: 'large.html',
    mimeType: 'text/html',
    bytes: pieces(
      size,
      (random, place) => `<h2>${title(random)} ${place}</h2><p>${prose(random, SECTION_CHARACTERS)}</p>\n`,
      '<!doctype html><title>Large</title>\n',
    ),
  }),
  json: (size) => ({
    filename: 'large.json',
    mimeType: 'application/json',
    bytes: pieces(
      size,
      (random, place) =>
        `${place === 0 ? '' : ',\n'}${JSON.stringify({ id: place, name: title(random), text: prose(random, 300) })}`,
      '[',
      ']',
    ),
  }),
  docx: (size) => ({ filename: 'large.docx', mimeType: `${OFFICE}.wordprocessingml.document`, bytes: docx(size) }),
  xlsx: (size) => ({ filename: 'large.xlsx', mimeType: `${OFFICE}.spreadsheetml.sheet`, bytes: xlsx(size) }),
  pptx: (size) => ({ filename: 'large.pptx', mimeType: `${OFFICE}.presentationml.presentation`, bytes: pptx(size) }),
  pdf: (size) => ({ filename: 'large.pdf', mimeType: 'application/pdf', bytes: pdf(size) }),
}

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const SCHEMAS = 'http://schemas.openxmlformats.org'

function pieces(size: number, piece: (random: () => number, place: number) => string, head = '', tail = ''): Buffer {
  const random = numbers(SEED)
  const made = [head]
  let length = head.length
  for (let place = 0; length < size; place++) {
    const next = piece(random, place)
    made.push(next)
    length += next.length
  }
  return Buffer.from(`${made.join('')}${tail}`)
}

function title(random: () => number): string {
  return `${zipfWord(random)} ${zipfWord(random)}`
}

function cells(random: () => number): string[] {
  return Array.from({ length: ROW_COLUMNS }, () => title(random))
}

function relations(rows: readonly (readonly [id: string, kind: string, target: string])[]): Buffer {
  const list = rows.map(
    ([id, kind, target]) =>
      `<Relationship Id="${id}" Type="${SCHEMAS}/officeDocument/2006/relationships/${kind}" Target="${target}"/>`,
  )
  return Buffer.from(`<Relationships xmlns="${SCHEMAS}/package/2006/relationships">${list.join('')}</Relationships>`)
}

const CONTENT_TYPES = Buffer.from(`<Types xmlns="${SCHEMAS}/package/2006/content-types"/>`)

function docx(size: number): Buffer {
  const body = pieces(
    size,
    (random, place) =>
      `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>${title(random)} ${place}</w:t></w:r></w:p>` +
      `<w:p><w:r><w:t>${prose(random, SECTION_CHARACTERS)}</w:t></w:r></w:p>`,
    `<w:document xmlns:w="${SCHEMAS}/wordprocessingml/2006/main"><w:body>`,
    '</w:body></w:document>',
  )
  return buildStoredZip([
    ['[Content_Types].xml', CONTENT_TYPES],
    ['_rels/.rels', relations([['r1', 'officeDocument', 'word/document.xml']])],
    ['word/document.xml', body],
  ])
}

function xlsx(size: number): Buffer {
  const random = numbers(SEED)
  const rows: string[][] = []
  for (let length = 0; length < size; ) {
    const row = cells(random)
    rows.push(row)
    length += row.join(' ').length
  }
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Sheet')
  return Buffer.from(write(book, { type: 'buffer', bookType: 'xlsx' }))
}

function pptx(size: number): Buffer {
  const random = numbers(SEED)
  const count = Math.max(1, Math.ceil(size / SLIDE_CHARACTERS))
  const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
  const slides = Array.from({ length: count }, (_, place) =>
    Buffer.from(
      '<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody>' +
        `${paragraph(`${title(random)} ${place}`)}</p:txBody></p:sp><p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>` +
        `${paragraph(prose(random, SLIDE_CHARACTERS))}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
    ),
  )
  const list = slides.map((_, place) => `<p:sldId id="${256 + place}" r:id="rId${place + 1}"/>`)
  return buildStoredZip([
    ['[Content_Types].xml', CONTENT_TYPES],
    ['ppt/presentation.xml', Buffer.from(`<p:presentation><p:sldIdLst>${list.join('')}</p:sldIdLst></p:presentation>`)],
    [
      'ppt/_rels/presentation.xml.rels',
      relations(slides.map((_, place) => [`rId${place + 1}`, 'slide', `slides/slide${place + 1}.xml`] as const)),
    ],
    ...slides.map((content, place) => [`ppt/slides/slide${place + 1}.xml`, content] as const),
  ])
}

/** Pages of plain lines in one of the fonts that every reader has. */
function pdf(size: number): Buffer {
  const random = numbers(SEED)
  const count = Math.max(1, Math.ceil(size / (LINES_A_PAGE * LINE_CHARACTERS)))
  const objects: string[] = []
  const pageOf = (place: number) => 4 + place * 2
  objects[1] = '<< /Type /Catalog /Pages 2 0 R >>'
  objects[2] = `<< /Type /Pages /Count ${count} /Kids [${Array.from({ length: count }, (_, place) => `${pageOf(place)} 0 R`).join(' ')}] >>`
  objects[3] = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
  for (let place = 0; place < count; place++) {
    const lines = Array.from(
      { length: LINES_A_PAGE },
      (_, line) => `(${prose(random, LINE_CHARACTERS).trim()}) Tj ${line % 10 === 9 ? '0 -20' : '0 -13'} Td`,
    )
    const stream = `BT /F1 10 Tf 40 800 Td ${lines.join('\n')} ET`
    objects[pageOf(place)] =
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${pageOf(place) + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`
    objects[pageOf(place) + 1] = `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`
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
  const table = offsets.slice(1).map((at) => `${String(at).padStart(10, '0')} 00000 n \n`)
  parts.push(
    `xref\n0 ${objects.length}\n0000000000 65535 f \n${table.join('')}`,
    `trailer\n<< /Size ${objects.length} /Root 1 0 R >>\nstartxref\n${offset}\n%%EOF\n`,
  )
  return Buffer.from(parts.join(''), 'latin1')
}
