import { buildStoredZip } from '../../../src/engine/readers/archive/zip-store.js'
import { makeZip, type ZipPart } from './read.js'

const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types'

export interface Relation {
  id: string
  kind: string
  target: string
  external?: boolean
}

export function relations(list: Relation[]): string {
  const rows = list.map(({ id, kind, target, external }) => {
    const mode = external === true ? ' TargetMode="External"' : ''
    return `<Relationship Id="${id}" Type="${OFFICE}/${kind}" Target="${target}"${mode}/>`
  })
  return `<?xml version="1.0"?><Relationships xmlns="${RELATIONS}">${rows.join('')}</Relationships>`
}

export interface Slide {
  shapes: string
  notes?: string
  relations?: Relation[]
}

/** A presentation with its slides stored in reverse: only the slide list gives their order. */
export function makePptx(slides: Slide[], extra: ZipPart[] = []): Buffer {
  const part = (index: number): string => `slides/slide${slides.length - index}.xml`
  const list = slides.map((_slide, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join('')
  const parts: ZipPart[] = [
    { name: '[Content_Types].xml', content: `<Types xmlns="${TYPES}"/>` },
    { name: 'ppt/presentation.xml', content: `<p:presentation><p:sldIdLst>${list}</p:sldIdLst></p:presentation>` },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: relations(
        slides.map((_slide, index) => ({ id: `rId${index + 1}`, kind: 'slide', target: part(index) })),
      ),
    },
  ]
  for (const [index, slide] of slides.entries()) {
    const own = [...(slide.relations ?? [])]
    if (slide.notes !== undefined) {
      own.push({ id: 'notes', kind: 'notesSlide', target: `../notesSlides/notes${index}.xml` })
      parts.push({ name: `ppt/notesSlides/notes${index}.xml`, content: slide.notes })
    }
    parts.push({
      name: `ppt/${part(index)}`,
      content: `<p:sld><p:cSld><p:spTree>${slide.shapes}</p:spTree></p:cSld></p:sld>`,
    })
    parts.push({ name: `ppt/slides/_rels/slide${slides.length - index}.xml.rels`, content: relations(own) })
  }
  return makeZip([...parts, ...extra])
}

/**
 * A shape with one paragraph per line; `placeholder` as in `p:ph`. Leading `>` are levels, `*` and `!` bullet or none.
 */
export function shape(lines: string, placeholder?: string): string {
  const holder = placeholder === undefined ? '' : `<p:ph type="${placeholder}"/>`
  const paragraphs = lines.split('\n').map((line) => {
    const [, levels = '', mark = '', text = ''] = /^(>*)([*!]?)(.*)$/.exec(line) ?? []
    const bullet = mark === '*' ? '<a:buChar char="•"/>' : mark === '!' ? '<a:buNone/>' : ''
    return `<a:p><a:pPr lvl="${levels.length}">${bullet}</a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`
  })
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:nvPr>${holder}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs.join('')}</p:txBody></p:sp>`
}

export interface WorkbookSheet {
  name: string
  /** The rows as XML. */
  rows: string
  dimension?: string
  merges?: string[]
}

/** A workbook of sheets given as XML rows; `strings` are shared, `formats` the number formats of styles 1, 2, … */
export function makeXlsx(
  sheets: WorkbookSheet[],
  options: { strings?: string[]; formats?: string[]; extra?: ZipPart[]; list?: string; date1904?: boolean } = {},
): Buffer {
  const main = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const override = (part: string, kind: string): string =>
    `<Override PartName="/xl/${part}" ContentType="${main}.${kind}+xml"/>`
  const list = sheets.map(({ name }, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
  const formats = options.formats ?? []
  const numFmts = formats.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code}"/>`).join('')
  const xfs = [0, ...formats.map((_code, index) => 164 + index)].map(
    (id) => `<xf numFmtId="${id}" applyNumberFormat="1"/>`,
  )
  return makeZip([
    {
      name: '[Content_Types].xml',
      content: `<Types xmlns="${TYPES}">${override('workbook.xml', 'sheet.main')}${override('sharedStrings.xml', 'sharedStrings')}${override('styles.xml', 'styles')}${sheets.map((_sheet, index) => override(`worksheets/sheet${index + 1}.xml`, 'worksheet')).join('')}</Types>`,
    },
    { name: '_rels/.rels', content: relations([{ id: 'r', kind: 'officeDocument', target: 'xl/workbook.xml' }]) },
    {
      name: 'xl/workbook.xml',
      content: `<?xml version="1.0"?><workbook xmlns="${MAIN}"><workbookPr${options.date1904 === true ? ' date1904="1"' : ''}/><sheets>${options.list ?? list.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relations(
        sheets.map((_sheet, index) => ({
          id: `rId${index + 1}`,
          kind: 'worksheet',
          target: `worksheets/sheet${index + 1}.xml`,
        })),
      ),
    },
    {
      name: 'xl/styles.xml',
      content: `<styleSheet><numFmts>${numFmts}</numFmts><cellXfs>${xfs.join('')}</cellXfs></styleSheet>`,
    },
    {
      name: 'xl/sharedStrings.xml',
      content: `<sst>${(options.strings ?? []).map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    },
    ...sheets.map(({ rows, dimension, merges }, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      content: `<worksheet>${dimension === undefined ? '' : `<dimension ref="${dimension}"/>`}<sheetData>${rows}</sheetData>${
        merges === undefined
          ? ''
          : `<mergeCells>${merges.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`
      }</worksheet>`,
    })),
    ...(options.extra ?? []),
  ])
}

/** A row of cells: texts inline, numbers as they are, `undefined` for holes. */
export function row(number: number, cells: (string | number | undefined)[], style = 0): string {
  const xml = cells.map((cell, column) => {
    const name = `${String.fromCharCode(65 + column)}${number}`
    if (cell === undefined) return ''
    return typeof cell === 'number'
      ? `<c r="${name}" s="${style}"><v>${cell}</v></c>`
      : `<c r="${name}" t="inlineStr"><is><t>${cell}</t></is></c>`
  })
  return `<row r="${number}">${xml.join('')}</row>`
}

/** An OpenDocument file: `body` is the content of `office:body`, `styles` its automatic styles. */
export function makeOdf(kind: string, body: string, styles = '', extra: ZipPart[] = []): Buffer {
  const content = `<?xml version="1.0"?><office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body>${body}</office:body></office:document-content>`
  // The type comes first and uncompressed, so that it can be read without inflating.
  return buildStoredZip([
    ['mimetype', Buffer.from(`application/vnd.oasis.opendocument.${kind}`)],
    ['META-INF/manifest.xml', Buffer.from('<manifest:manifest/>')],
    ['content.xml', Buffer.from(content)],
    ...extra.map((part) => [part.name, Buffer.from(part.content)] as const),
  ])
}

/** An e-book with the given chapters in order; `metadata` and `guide` go into its package document. */
export function makeEpub(
  chapters: { name: string; xhtml: string; properties?: string }[],
  options: { metadata?: string; guide?: string; extra?: ZipPart[]; spine?: string[] } = {},
): Buffer {
  const items = chapters.map(
    ({ name, properties = '' }) =>
      `<item id="${name}" href="text/${encodeURIComponent(name)}.xhtml" media-type="application/xhtml+xml" properties="${properties}"/>`,
  )
  const spine = (options.spine ?? chapters.map(({ name }) => name)).map((name) => `<itemref idref="${name}"/>`)
  return makeZip([
    {
      name: 'META-INF/container.xml',
      content: '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    },
    {
      name: 'OEBPS/book.opf',
      content: `<!DOCTYPE package><opf:package><opf:metadata>${options.metadata ?? ''}</opf:metadata><opf:manifest>${items.join('')}<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></opf:manifest><opf:spine toc="ncx">${spine.join('')}</opf:spine>${options.guide ?? ''}</opf:package>`,
    },
    ...chapters.map(({ name, xhtml }) => ({ name: `OEBPS/text/${name}.xhtml`, content: xhtml })),
    ...(options.extra ?? []),
  ])
}
