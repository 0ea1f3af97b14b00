import { drawTree } from '../tree.js'
import { bytes } from '../units.js'
import { type Element, pagesOf, tablesOf, textPieces } from './element.js'
import { markdownPieces, markdownTable } from './markdown.js'

/** The forms in which a document is shown. */
export const FORMS = ['markdown', 'text', 'outline', 'tables', 'pictures', 'pages'] as const
export type Form = (typeof FORMS)[number]

/** A section with those in it, as the API and the reading process tell it. */
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
  /** text that was read in it, or the beginning of it */
  text?: string
  /** a picture that the document only points to */
  externalUri?: string
  /** the file that holds it, where it was written to one */
  file?: string
}

/** What is shown of a document; each part is asked for when a form needs it. */
export interface Shown {
  elements: readonly Element[]
  outline: readonly Section[]
  pictures: readonly PictureView[]
  /** where the picture of an element is, by the element's id */
  places?: ReadonlyMap<string, string>
}

/** A form of a document for people, piece by piece. */
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

/** The same for programs. */
export function formValue(form: Form, shown: Shown): unknown {
  if (form === 'markdown' || form === 'text')
    return { [form]: [...formPieces(form, shown, { unicode: true })].join('') }
  if (form === 'outline') return shown.outline
  if (form === 'tables') return tablesOf(shown.elements)
  return form === 'pages' ? pagesOf(shown.elements) : shown.pictures
}

/** What is said of a form that a document has nothing for. */
export const NOTHING: Readonly<Record<Form, string>> = {
  markdown: 'The document has no text.',
  text: 'The document has no text.',
  outline: 'The document has no sections.',
  tables: 'The document has no tables.',
  pictures: 'The document has no pictures.',
  pages: 'The document has no pages: its format knows none.',
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
