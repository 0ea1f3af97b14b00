import { drawTree } from '../tree.js'
import { bytes } from '../units.js'
import { type Element, pagesOf, tablesOf, textPieces } from './element.js'
import { markdownPieces, markdownTable } from './markdown.js'

/** Forms in which a document can be shown. */
export const FORMS = ['markdown', 'text', 'outline', 'tables', 'pictures', 'pages'] as const
export type Form = (typeof FORMS)[number]

/** A section with its subsections, as the API and the reader process return it. */
interface Section {
  title: string
  startPage?: number | undefined
  children: Section[]
}

export interface PictureView {
  id: string
  pageNumber?: number
  section?: string
  caption?: string
  contentType?: string
  sizeBytes?: number
  /** Text recognized in the picture, or its beginning. */
  text?: string
  /** Address of a picture that is not stored in the document. */
  externalUri?: string
  /** File to which the picture was written, if any. */
  file?: string
}

/** The content of a document; only the parts that the form needs are loaded. */
export interface Shown {
  elements: readonly Element[]
  outline: readonly Section[]
  pictures: readonly PictureView[]
  /** Location of the picture of an element, by element id. */
  places?: ReadonlyMap<string, string>
}

/** Renders a form of a document for people, in parts. */
export function* formPieces(
  form: Form,
  { elements, outline, pictures, places }: Shown,
  options: { unicode: boolean; pageMarks?: boolean },
): Generator<string> {
  if (form === 'markdown') {
    yield* markdownPieces(elements, {
      pageMarks: options.pageMarks === true,
      ...(places === undefined ? {} : { pictures: places }),
    })
  } else if (form === 'text') yield* textPieces(elements)
  else if (form === 'outline') {
    const children = (section: Section) => section.children
    for (const line of drawTree(outline, { label, children, unicode: options.unicode })) yield `${line}\n`
  } else if (form === 'tables') {
    for (const [index, { caption, pageNumber, sectionPath, headerRows, rows }] of tablesOf(elements).entries()) {
      const where = [...(pageNumber === undefined ? [] : [`page ${pageNumber}`]), ...sectionPath.slice(-1)].join(', ')
      const head = `Table ${index + 1}${where === '' ? '' : ` (${where})`}`
      yield `${index === 0 ? '' : '\n'}${head}\n\n${markdownTable(rows, headerRows, caption)}\n`
    }
  } else if (form === 'pages') {
    for (const [index, { pageNumber, text }] of pagesOf(elements).entries())
      yield `${index === 0 ? '' : '\n'}--- page ${pageNumber} ---\n\n${text}\n`
  } else for (const picture of pictures) yield `${pictureLine(picture)}\n`
}

/** Converts a form of a document to a JSON value. */
export function formValue(form: Form, shown: Shown): unknown {
  if (form === 'markdown' || form === 'text')
    return { [form]: [...formPieces(form, shown, { unicode: true })].join('') }
  if (form === 'outline') return shown.outline
  if (form === 'tables') return tablesOf(shown.elements)
  return form === 'pages' ? pagesOf(shown.elements) : shown.pictures
}

/** Messages for forms without content. */
export const NOTHING: Readonly<Record<Form, string>> = {
  markdown: 'The document has no text.',
  text: 'The document has no text.',
  outline: 'The document has no sections.',
  tables: 'The document has no tables.',
  pictures: 'The document has no pictures.',
  pages: 'The document has no pages: its format has none.',
}

function label({ title, startPage }: Section): string {
  return startPage === undefined ? title : `${title}  p. ${startPage}`
}

/** `image-3  page 4 · image/png · 12 KiB · A ferry at the quay` */
function pictureLine({
  id,
  pageNumber,
  contentType,
  sizeBytes,
  caption,
  externalUri,
  file,
  text,
}: PictureView): string {
  const facts = [
    pageNumber === undefined ? undefined : `page ${pageNumber}`,
    contentType,
    sizeBytes === undefined ? undefined : bytes(sizeBytes),
    caption ?? text,
    externalUri,
    file,
  ]
  const said = facts.flatMap((fact) => fact?.replace(/\s+/g, ' ') ?? []).join(' · ')
  return said === '' ? id : `${id}  ${said}`
}
