import type { getDocumentProxy } from 'unpdf'
import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { DeclaredFields } from '../parsed.js'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

export interface PdfInfo {
  title?: string
  language?: string
  declared: DeclaredFields
}

/** Reads the metadata of a PDF: its XMP metadata, which programs maintain better, else its info entries. */
export async function readInfo(pdf: Pdf): Promise<PdfInfo> {
  try {
    const { info, metadata }: { info: unknown; metadata: unknown } = await pdf.getMetadata()
    const entries = isRecord(info) ? info : {}
    const xmp = createXmpReader(metadata)
    const title = [toText(entries.Title), xmp('dc:title')[0]].find((text) => text !== undefined && isTitle(text))
    const author = toText(entries.Author)
    const creators = xmp('dc:creator')
    const language = xmp('dc:language')[0] ?? toText(entries.Language)
    return {
      ...omitUndefined({ title: title?.trim() }),
      ...(language !== undefined && /^[a-z]{2,3}(?:-[\w-]{1,20})?$/i.test(language) ? { language } : {}),
      declared: omitUndefined({
        authors: creators.length > 0 ? creators : author === undefined ? undefined : [author],
        created: xmp('xmp:createdate')[0] ?? toText(entries.CreationDate),
        modified: xmp('xmp:modifydate')[0] ?? toText(entries.ModDate),
        published: xmp('prism:publicationdate')[0] ?? xmp('prism:coverdate')[0],
      }),
    }
  } catch {
    return { declared: {} }
  }
}

/** Creates a reader of XMP values by name; pdf.js uses lower-case names, and texts or lists of texts. */
function createXmpReader(metadata: unknown): (name: string) => string[] {
  if (!isRecord(metadata) || typeof metadata.get !== 'function') return () => []
  const read = metadata.get.bind(metadata)
  return (name) => {
    const value: unknown = read(name)
    return [value].flat().flatMap((item) => toText(item) ?? [])
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** Programs put their own name, a file name or nothing into the title of a PDF; those are not titles. */
function isTitle(title: string): boolean {
  const text = title.trim()
  if (text.length < 4 || text.length > 200 || !/\p{L}{3}/u.test(text)) return false
  if (/^(?:microsoft (?:word|powerpoint|excel)|untitled|document\d*$|slide 1$)/i.test(text)) return false
  return !/\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|rtf|odt|html?|fm)$/i.test(text) && !/[\\/]{1}\S+[\\/]/.test(text)
}

/** Reads the page labels of a file (`iv`, `A-3`) by page number, without labels that equal the page number. */
export async function readPageLabels(pdf: Pdf): Promise<Map<number, string>> {
  const labels = new Map<number, string>()
  try {
    const found: unknown = await pdf.getPageLabels()
    if (!Array.isArray(found)) return labels
    for (const [index, label] of found.entries()) {
      if (typeof label !== 'string' || label.trim() === '' || label === String(index + 1)) continue
      labels.set(index + 1, label.trim().slice(0, 40))
    }
  } catch {
    // unreadable labels are ignored
  }
  return labels
}
