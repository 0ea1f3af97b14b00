import type { OutlineNode } from '../contract/gateway/document-parts.js'
import { counted } from '../lib/text/counted.js'
import type { Api } from './api.js'
import { oneLine } from './content.js'
import type { Target } from './documents.js'
import { ToolError } from './failure.js'
import type { SpaceRef } from './spaces.js'

/** Offsets of characters in the text of a document. */
export interface Range {
  start: number
  end: number
}

type File = Target & { path: string }

const NAMED = 30
const CONTEXT_CHARS = 4000

/** All sections of an outline in preorder. */
export function sectionsOf(nodes: readonly OutlineNode[]): OutlineNode[] {
  const all: OutlineNode[] = []
  const waiting = [...nodes].reverse()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    all.push(node)
    waiting.push(...[...node.children].reverse())
  }
  return all
}

export async function outlineOf(api: Api, space: SpaceRef, documentId: string) {
  return api.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
    path: { id: space.id, documentId },
  })
}

/** @throws ToolError that lists the existing sections */
export async function sectionRange(api: Api, file: File, name: string): Promise<Range> {
  const { nodes } = await outlineOf(api, file.space, await idOf(api, file))
  const sections = sectionsOf(nodes)
  const wanted = folded(name)
  const found = sections.filter(({ title, sectionPath }) =>
    [title, sectionPath.join(' > ')].some((one) => folded(one) === wanted),
  )
  const [only, other] = found.length > 0 ? found : sections.filter(({ title }) => folded(title).includes(wanted))
  const { startOffset: start, endOffset: end } = only ?? {}
  if (start !== undefined && end !== undefined && other === undefined) return { start, end }
  const listed = (only === undefined ? sections : [only, other].flatMap((one) => one ?? []))
    .slice(0, NAMED)
    .map(({ sectionPath }) => sectionPath.join(' > '))
  const next =
    listed.length === 0
      ? 'The document has no sections: read it by offset.'
      : 'Give one of these sections, or read by start and end from `outline`.'
  if (other !== undefined) throw new ToolError('invalid-request', 'several sections have this name', next, listed)
  throw new ToolError(
    'not-found',
    `no section ${JSON.stringify(oneLine(name))} with a position in the text`,
    next,
    listed,
  )
}

/** The range of a passage with some paragraphs before and after it. */
export async function paragraphsAround(api: Api, file: File, range: Range, paragraphs: number): Promise<Range> {
  const from = Math.max(0, range.start - CONTEXT_CHARS)
  const query = { path: file.path, offset: from, maxBytes: 4 * (range.end - from + CONTEXT_CHARS) }
  const { content } = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: file.space.id }, query })
  const breaks = [...content.matchAll(/\n\s*\n/g)].map(({ index, 0: gap }) => ({
    ends: index,
    begins: index + gap.length,
  }))
  const before = breaks.filter(({ begins }) => begins <= range.start - from)
  const behind = breaks.filter(({ ends }) => ends >= range.end - from)
  const start = before.at(-1 - paragraphs)?.begins ?? 0
  const end = behind.at(paragraphs)?.ends ?? content.length
  return { start: from + start, end: from + end }
}

/**
 * The text of a range of pages, from the parse artifact of the document.
 * @throws ToolError if there are no such pages
 */
export async function textOfPages(api: Api, file: File, pages: { first: number; last: number }): Promise<string> {
  const documentId = await idOf(api, file)
  const at = { id: file.space.id, documentId }
  const { version } = await api.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path: at })
  const { elements } = await api.request(
    'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
    { path: { ...at, version: String(version) } },
  )
  const numbers = elements.flatMap(({ pageNumber }) => pageNumber ?? [])
  const last = numbers.reduce((most, page) => Math.max(most, page), 0)
  if (last === 0)
    throw new ToolError('invalid-request', 'the document has no pages', 'Read it by section or by offset.')
  if (pages.first > last || pages.last < pages.first)
    throw new ToolError('invalid-request', `the document has ${counted(last, 'page')}`, `Give pages within 1-${last}.`)
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

async function idOf(api: Api, { space, path, documentId }: File): Promise<string> {
  if (documentId !== undefined) return documentId
  const query = { path, maxBytes: 1 }
  const file = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: space.id }, query })
  if (file.resourceType === 'document' && file.targetId !== undefined) return file.targetId
  throw new ToolError('invalid-request', `${oneLine(path)} has neither sections nor pages`, 'Read it by offset.')
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('›', '>').replace(/\s+/g, ' ').trim()
}
