import { hasUnicode } from '../cli/terminal.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'

/** A passage that supports an answer. */
export interface AnswerSource {
  position: number
  name: string
  /** headings above the passage, outermost first */
  section: readonly string[]
  page?: number
  /** 0…1, by which the passages are ordered */
  score?: number
  /** URL of the web page that the document was imported from */
  address?: string
  /** whether the answer cites it; absent if the service does not state it */
  isCited?: boolean
}

/** Lists the passages of an answer in the order of their citation marks. @param message its last event, or the reply */
export function toSources(message: Record<string, unknown>): AnswerSource[] {
  const { metadata } = message
  const resources: unknown[] =
    isRecord(metadata) && Array.isArray(metadata.retriever_resources) ? metadata.retriever_resources : []
  return resources.filter(isRecord).map((resource, index) => {
    const address = toNonEmptyString(resource.source_url)
    const section: unknown[] = Array.isArray(resource.section_path) ? resource.section_path : []
    return {
      position: typeof resource.position === 'number' ? resource.position : index + 1,
      name: toNonEmptyString(resource.document_name) ?? toNonEmptyString(resource.document_id) ?? '',
      section: section.filter((heading) => typeof heading === 'string'),
      ...(typeof resource.page === 'number' ? { page: resource.page } : {}),
      ...(typeof resource.score === 'number' ? { score: resource.score } : {}),
      ...omitUndefined({ address }),
      ...(typeof resource.cited === 'boolean' ? { isCited: resource.cited } : {}),
    }
  })
}

/** Selects the sources that an answer cites: as the service states, otherwise those with a mark `[n]` in its text. */
export function findCitedSources(answer: string, sources: readonly AnswerSource[]): AnswerSource[] {
  if (sources.some(({ isCited }) => isCited !== undefined)) return sources.filter(({ isCited }) => isCited === true)
  const citedPositions = new Set([...answer.matchAll(/\[(\d{1,4})\]/g)].map((match) => Number(match[1])))
  return sources.filter(({ position }) => citedPositions.has(position))
}

/** Formats `[1] vpn.md › Setup › Linux  p. 3  0.91  https://…`. */
export function formatSource({ position, page, score, address, ...source }: AnswerSource): string {
  const parts = [page === undefined ? undefined : `p. ${page}`, score?.toFixed(2), address]
  const location = formatLocation(source, hasUnicode(process.env) ? ' › ' : ' > ')
  return [`[${position}] ${location}`, ...parts.filter((part) => part !== undefined)].join('  ')
}

/** Joins the name of a document and the headings above a passage. */
export function formatLocation({ name, section }: Pick<AnswerSource, 'name' | 'section'>, separator: string): string {
  return [name, ...section].join(separator)
}
