import { type getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { isRecord } from '../../../lib/json/values.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import { type PageRect, readField, readSize, type ShownText, splitRows, toText } from './pdf-fields.js'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

/** A remark about a place of a page. */
export interface Remark {
  author: string
  text: string
  rect: PageRect
  /** It marks words of the page, or is what a field without a value shows: a button, a signature. */
  kind: 'remark' | 'markup' | 'field'
}

/** The texts of a page that are not part of its content. */
export interface PageAnnotations {
  shown: ShownText[]
  remarks: Remark[]
  /** Those without words whose appearances may show some, by the id of the annotation. */
  drawn: Map<string, Remark>
}

/** The annotations of a document, by page number. */
export interface DocumentAnnotations {
  pages: Map<number, PageAnnotations>
  /** Files that are attached to pages, as pdf.js returns them. */
  files: { page: number; file: unknown }[]
  warnings: string[]
}

/** Maximal number of annotations of one document, and of characters of a remark. */
const MAX_ANNOTATIONS = 50_000
const MAX_REMARK_LENGTH = 20_000
/** Flags of an annotation. */
const HIDDEN = 2
const PRINTED = 4
const OFF_SCREEN = 32
const MARKUP = new Set(['Highlight', 'Underline', 'Squiggly', 'StrikeOut'])

/**
 * Reads the annotations of all pages, without popups, which repeat remarks, and links: for them pdf.js would read the
 * text of their page once more.
 */
export async function readAnnotations(pdf: Pdf): Promise<DocumentAnnotations> {
  const result: DocumentAnnotations = { pages: new Map(), files: [], warnings: [] }
  const seen = new Set<string>()
  let hiddenCount = 0
  const list = await loadAnnotations(pdf)
  for (const data of list.slice(0, MAX_ANNOTATIONS)) {
    if (!isRecord(data) || typeof data.pageIndex !== 'number') continue
    const number = data.pageIndex + 1
    const page = result.pages.get(number) ?? { shown: [], remarks: [], drawn: new Map() }
    result.pages.set(number, page)
    const id = toText(data.id)
    seen.add(id)
    if (isRecord(data.file)) result.files.push({ page: number, file: data.file })
    if (isHidden(data)) hiddenCount += hasText(data) ? 1 : 0
    else addAnnotation(data, page, id)
  }
  const omitted: [number, string][] = [
    [hiddenCount, 'hidden annotation'],
    [await countFieldsWithoutPage(pdf, seen), 'form field without a page'],
    [Math.max(0, list.length - MAX_ANNOTATIONS), 'annotation'],
  ]
  if (![...result.pages.values()].some(({ shown }) => shown.length > 0) && (await hasXfa(pdf)))
    result.warnings.push('left out: a form in XFA')
  for (const [count, what] of omitted) if (count > 0) result.warnings.push(`left out: ${pluralize(count, what)}`)
  return result
}

function addAnnotation(data: Record<string, unknown>, page: PageAnnotations, id: string): void {
  const rect = readRect(data.rect)
  const text = (toText(data.contentsObj) || toText(data.richText)).slice(0, MAX_REMARK_LENGTH)
  if (data.subtype === 'Widget') {
    const field = readField(data, rect)
    if (field !== undefined) page.shown.push(field)
    else if (data.hasAppearance === true) page.drawn.set(id, { author: '', text: '', rect, kind: 'field' })
  } else if (data.subtype === 'FreeText' && text !== '') {
    page.shown.push({ rows: splitRows(text), rect, size: readSize(data, rect) })
  } else {
    const kind = MARKUP.has(toText(data.subtype)) ? 'markup' : 'remark'
    const remark: Remark = { author: toText(data.titleObj), text, rect, kind }
    if (text !== '') page.remarks.push(remark)
    else if (data.hasAppearance === true) page.drawn.set(id, remark)
  }
}

/** Nobody sees a password, and some annotations are neither on the screen nor on paper. */
function isHidden({ annotationFlags, hidden, password }: Record<string, unknown>): boolean {
  const flags = typeof annotationFlags === 'number' ? annotationFlags : 0
  const isOffScreen = (flags & OFF_SCREEN) !== 0 && (flags & PRINTED) === 0
  return (flags & HIDDEN) !== 0 || isOffScreen || hidden === true || password === true
}

function hasText(data: Record<string, unknown>): boolean {
  if (data.subtype !== 'Widget') return toText(data.contentsObj) !== ''
  return data.fieldType !== 'Btn' && [data.fieldValue].flat().some((value) => toText(value) !== '')
}

async function loadAnnotations(pdf: Pdf): Promise<unknown[]> {
  const { AnnotationType } = await getResolvedPDFJS()
  const types = new Set(Object.values(AnnotationType))
  types.delete(AnnotationType.LINK)
  types.delete(AnnotationType.POPUP)
  try {
    return await pdf.getAnnotationsByType(types, new Set())
  } catch {
    // one damaged page fails the call for all
    return await loadByPage(pdf, types)
  }
}

async function loadByPage(pdf: Pdf, types: ReadonlySet<number>): Promise<unknown[]> {
  const list: unknown[] = []
  for (let index = 0; index < pdf.numPages && list.length < MAX_ANNOTATIONS; index++) {
    try {
      const page = await pdf.getPage(index + 1)
      for (const data of await page.getAnnotations({ intent: 'any' }))
        if (types.has(data.annotationType)) list.push({ ...data, pageIndex: index })
    } catch {
      // pages that cannot be read are counted elsewhere
    }
  }
  return list
}

/** Counts form fields with a value that no page shows. @param seen ids of the annotations on pages */
async function countFieldsWithoutPage(pdf: Pdf, seen: ReadonlySet<string>): Promise<number> {
  let count = 0
  try {
    for (const field of Object.values((await pdf.getFieldObjects()) ?? {}).flat()) {
      if (!isRecord(field) || seen.has(toText(field.id)) || Array.isArray(field.kidIds)) continue
      if ([field.value].flat().some((value) => toText(value) !== '')) count++
    }
  } catch {
    // a damaged form may have readable pages
  }
  return count
}

/** Whether the file has a form that pdf.js draws only by its own program. */
async function hasXfa(pdf: Pdf): Promise<boolean> {
  try {
    const { info }: { info: unknown } = await pdf.getMetadata()
    return isRecord(info) && info.IsXFAPresent === true
  } catch {
    return false
  }
}

function readRect(value: unknown): PageRect {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = Array.isArray(value)
    ? value.map((one) => (Number.isFinite(one) ? one : 0))
    : []
  return { left: Math.min(x1, x2), bottom: Math.min(y1, y2), right: Math.max(x1, x2), top: Math.max(y1, y2) }
}
