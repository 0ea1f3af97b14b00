import type { getDocumentProxy } from 'unpdf'
import { isRecord } from '../../../lib/json/values.js'
import type { ContainedFileCollector } from '../inside/contained-files.js'
import { toEmbeddedFileBlock } from '../inside/file-line.js'
import type { DocumentAnnotations } from './pdf-annotations.js'
import type { PdfBlock } from './pdf-blocks.js'
import { toText } from './pdf-fields.js'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

/** Adds the files attached to a PDF, or to places of its pages, as contained documents, and returns a line for each. */
export async function addAttachments(
  pdf: Pdf,
  { files }: DocumentAnnotations,
  inside: ContainedFileCollector,
): Promise<PdfBlock[]> {
  const attached = [...files]
  try {
    const list: unknown = await pdf.getAttachments()
    if (isRecord(list)) for (const file of Object.values(list)) attached.push({ page: pdf.numPages, file })
  } catch {
    // damaged attachments do not affect the text
  }
  const blocks: PdfBlock[] = []
  const seen = new Set<string>()
  for (const { page, file } of attached) {
    if (!isRecord(file)) continue
    const name = toText(file.filename) || 'unnamed'
    const content = file.content instanceof Uint8Array ? file.content : new Uint8Array()
    const key = `${name} ${content.length}`
    if (seen.has(key)) continue
    seen.add(key)
    const outcome = await inside.add({ name, content })
    if ('skipped' in outcome) continue
    const block = toEmbeddedFileBlock(name, outcome)
    blocks.push({ ...block, pageNumber: page, size: 0, y: 0, lineCount: 1, turned: false })
  }
  return blocks
}
