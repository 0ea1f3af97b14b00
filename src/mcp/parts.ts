import type { OutlineNode } from '../contract/gateway/document-parts.js'
import { pluralize } from '../lib/text/pluralize.js'
import type { GatewayApi } from './api.js'
import { toOneLine } from './content.js'
import type { FileTarget } from './documents.js'
import { ToolError } from './failure.js'
import type { ToolSpace } from './spaces.js'

/** Offsets of characters in the text of a document. */
export interface CharRange {
  start: number
  end: number
}

export type FileWithPath = FileTarget & { path: string }

const MAX_LISTED_SECTIONS = 30
/** Characters before and after a passage that are searched for paragraphs. */
const CONTEXT_CHARS = 4000

/** All sections of an outline in preorder. */
export function flattenSections(nodes: readonly OutlineNode[]): OutlineNode[] {
  const all: OutlineNode[] = []
  const pending = [...nodes].reverse()
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    all.push(node)
    pending.push(...[...node.children].reverse())
  }
  return all
}

export async function getDocumentOutline(api: GatewayApi, space: ToolSpace, documentId: string) {
  return api.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
    path: { id: space.id, documentId },
  })
}

/** Finds a section by its title or path. @throws ToolError that lists the existing sections */
export async function findSectionRange(api: GatewayApi, file: FileWithPath, name: string): Promise<CharRange> {
  const { nodes } = await getDocumentOutline(api, file.space, await getDocumentId(api, file))
  const sections = flattenSections(nodes)
  const foldedName = foldName(name)
  const exact = sections.filter(({ title, sectionPath }) =>
    [title, sectionPath.join(' > ')].some((candidate) => foldName(candidate) === foldedName),
  )
  const [only, other] = exact.length > 0 ? exact : sections.filter(({ title }) => foldName(title).includes(foldedName))
  const { startOffset: start, endOffset: end } = only ?? {}
  if (start !== undefined && end !== undefined && other === undefined) return { start, end }
  const listedSections = (only === undefined ? sections : [only, other].flatMap((section) => section ?? []))
    .slice(0, MAX_LISTED_SECTIONS)
    .map(({ sectionPath }) => sectionPath.join(' > '))
  const next =
    listedSections.length === 0
      ? 'The document has no sections: read it by offset.'
      : 'Give one of these sections, or read by start and end from `outline`.'
  if (other !== undefined)
    throw new ToolError('invalid-request', 'several sections have this name', next, listedSections)
  throw new ToolError(
    'not-found',
    `no section ${JSON.stringify(toOneLine(name))} with a position in the text`,
    next,
    listedSections,
  )
}

/** Expands the range of a passage by a number of paragraphs before and after it. */
export async function expandByParagraphs(
  api: GatewayApi,
  file: FileWithPath,
  range: CharRange,
  paragraphs: number,
): Promise<CharRange> {
  const windowStart = Math.max(0, range.start - CONTEXT_CHARS)
  const query = { path: file.path, offset: windowStart, maxBytes: 4 * (range.end - windowStart + CONTEXT_CHARS) }
  const { content } = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: file.space.id }, query })
  const gaps = [...content.matchAll(/\n\s*\n/g)].map(({ index, 0: gap }) => ({ start: index, end: index + gap.length }))
  const gapsBefore = gaps.filter((gap) => gap.end <= range.start - windowStart)
  const gapsAfter = gaps.filter((gap) => gap.start >= range.end - windowStart)
  const start = gapsBefore.at(-1 - paragraphs)?.end ?? 0
  const end = gapsAfter.at(paragraphs)?.start ?? content.length
  return { start: windowStart + start, end: windowStart + end }
}

/**
 * The text of a range of pages, from the parse artifact of the document.
 * @throws ToolError if there are no such pages
 */
export async function getPageText(
  api: GatewayApi,
  file: FileWithPath,
  pages: { first: number; last: number },
): Promise<string> {
  const documentId = await getDocumentId(api, file)
  const documentPath = { id: file.space.id, documentId }
  const { version } = await api.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path: documentPath })
  const { elements } = await api.request(
    'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
    { path: { ...documentPath, version: String(version) } },
  )
  const lastPage = elements.reduce((max, { pageNumber = 0 }) => Math.max(max, pageNumber), 0)
  if (lastPage === 0)
    throw new ToolError('invalid-request', 'the document has no pages', 'Read it by section or by offset.')
  if (pages.first > lastPage || pages.last < pages.first)
    throw new ToolError(
      'invalid-request',
      `the document has ${pluralize(lastPage, 'page')}`,
      `Give pages within 1-${lastPage}.`,
    )
  const lines: string[] = []
  let page = 0
  for (const { pageNumber, text } of elements) {
    if (pageNumber === undefined || pageNumber < pages.first || pageNumber > pages.last || text === undefined) continue
    if (pageNumber !== page) lines.push(`--- page ${pageNumber} ---`)
    page = pageNumber
    lines.push(text)
  }
  return lines.join('\n\n')
}

async function getDocumentId(api: GatewayApi, { space, path, documentId }: FileWithPath): Promise<string> {
  if (documentId !== undefined) return documentId
  const query = { path, maxBytes: 1 }
  const file = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: space.id }, query })
  if (file.resourceType === 'document' && file.targetId !== undefined) return file.targetId
  throw new ToolError('invalid-request', `${toOneLine(path)} has neither sections nor pages`, 'Read it by offset.')
}

function foldName(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('›', '>').replace(/\s+/g, ' ').trim()
}
