import type { PictureView } from '../json-output/documents.js'
import { drawTree } from '../tree.js'
import { formatBytes } from '../units.js'
import { getPages, getTables, type ReadingElement, renderTextParts } from './element.js'
import { renderMarkdownParts, renderMarkdownTable } from './markdown.js'

/** Forms in which a document can be shown. */
export const FORMS = ['markdown', 'text', 'outline', 'tables', 'pictures', 'pages'] as const
export type DocumentForm = (typeof FORMS)[number]

/** A section with its subsections, as the API and the reader process return it. */
interface ShownSection {
  title: string
  startPage?: number | undefined
  children: ShownSection[]
}

/** The content of a document; only the parts that the form needs are loaded. */
export interface DocumentContent {
  elements: readonly ReadingElement[]
  outline: readonly ShownSection[]
  pictures: readonly PictureView[]
  /** Location of the picture of an element, by element id. */
  pictureLocations?: ReadonlyMap<string, string>
}

/** Renders a form of a document for people, in parts. */
export function* renderFormParts(
  form: DocumentForm,
  { elements, outline, pictures, pictureLocations }: DocumentContent,
  options: { unicode: boolean; pageMarks?: boolean },
): Generator<string> {
  if (form === 'markdown') {
    yield* renderMarkdownParts(elements, {
      pageMarks: options.pageMarks === true,
      ...(pictureLocations === undefined ? {} : { pictures: pictureLocations }),
    })
  } else if (form === 'text') yield* renderTextParts(elements)
  else if (form === 'outline') {
    const children = (section: ShownSection) => section.children
    for (const line of drawTree(outline, { label: formatSection, children, unicode: options.unicode }))
      yield `${line}\n`
  } else if (form === 'tables') {
    for (const [index, { caption, pageNumber, sectionPath, headerRows, rows }] of getTables(elements).entries()) {
      const location = [...(pageNumber === undefined ? [] : [`page ${pageNumber}`]), ...sectionPath.slice(-1)].join(
        ', ',
      )
      const title = `Table ${index + 1}${location === '' ? '' : ` (${location})`}`
      yield `${index === 0 ? '' : '\n'}${title}\n\n${renderMarkdownTable(rows, headerRows, caption)}\n`
    }
  } else if (form === 'pages') {
    for (const [index, { pageNumber, text }] of getPages(elements).entries())
      yield `${index === 0 ? '' : '\n'}--- page ${pageNumber} ---\n\n${text}\n`
  } else for (const picture of pictures) yield `${formatPicture(picture)}\n`
}

/** Converts a form of a document to a JSON value. */
export function toFormValue(form: DocumentForm, content: DocumentContent): unknown {
  if (form === 'markdown' || form === 'text')
    return { [form]: [...renderFormParts(form, content, { unicode: true })].join('') }
  if (form === 'outline') return content.outline
  if (form === 'tables') return getTables(content.elements)
  return form === 'pages' ? getPages(content.elements) : content.pictures
}

/** Messages for forms without content. */
export const EMPTY_FORM_MESSAGES: Readonly<Record<DocumentForm, string>> = {
  markdown: 'The document has no text.',
  text: 'The document has no text.',
  outline: 'The document has no sections.',
  tables: 'The document has no tables.',
  pictures: 'The document has no pictures.',
  pages: 'The document has no pages: its format has none.',
}

function formatSection({ title, startPage }: ShownSection): string {
  return startPage === undefined ? title : `${title}  p. ${startPage}`
}

/** `image-3  page 4 · image/png · 12 KiB · A ferry at the quay` */
function formatPicture({
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
    sizeBytes === undefined ? undefined : formatBytes(sizeBytes),
    caption ?? text,
    externalUri,
    file,
  ]
  const description = facts.flatMap((fact) => fact?.replace(/\s+/g, ' ') ?? []).join(' · ')
  return description === '' ? id : `${id}  ${description}`
}
