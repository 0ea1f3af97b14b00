import { z } from 'zod'
import { count } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { counted } from '../../lib/text/counted.js'
import { fitting } from '../budget.js'
import { oneLine, Writer } from '../content.js'
import { cursorAt, offsetOf } from '../cursors.js'
import { documentIdOf } from '../documents.js'
import { cursor, document, maxTokens, nextCursor, space } from '../fields.js'
import { outlineOf, sectionsOf } from '../parts.js'
import { READS, tool } from '../tool.js'
import { uriOf } from '../uri.js'

const Section = z.strictObject({
  title: z.string(),
  level: z.int(),
  section: z.array(z.string()).describe('path of the section, for `read`'),
  start: count.optional(),
  end: count.optional(),
  firstPage: z.int().optional(),
  lastPage: z.int().optional(),
  summary: z.string().optional(),
})

export const outline = tool({
  name: 'outline',
  title: 'Outline of a document',
  description:
    'List the sections of a document with their pages, in order. Use it before `read` if a document is long.',
  input: z.strictObject({ document, space, maxTokens, cursor }),
  output: () =>
    z.strictObject({
      space: z.string(),
      documentId: z.string(),
      uri: z.string(),
      sections: z.array(Section),
      total: count,
      nextCursor,
    }),
  annotations: READS,
  run: async ({ maxTokens: budget, cursor: given, ...args }, call) => {
    const offset = offsetOf(given, args)
    const { space: ref, documentId } = await documentIdOf(call.spaces, call.api, args.document, args.space)
    const { nodes } = await outlineOf(call.api, ref, documentId)
    const all = sectionsOf(nodes).map((node) => ({
      title: node.title,
      level: node.level,
      section: node.sectionPath,
      ...defined({ start: node.startOffset, end: node.endOffset, firstPage: node.startPage, lastPage: node.endPage }),
      ...defined({ summary: node.summary }),
    }))
    const rest = all.slice(offset)
    const sections = rest.slice(
      0,
      fitting(rest, budget, (one) => one.section.join() + (one.summary ?? '')),
    )
    const end = offset + sections.length
    const next = end < all.length ? cursorAt(end, args) : undefined
    const uri = uriOf({ space: ref.slug, documentId })
    const writer = new Writer().line(`${uri}: ${counted(all.length, 'section')}`)
    if (sections.length > 0) writer.content(sections.map(lineOf).join('\n'))
    if (next !== undefined) writer.line(`There is more: call again with cursor ${next}.`)
    const data = { space: ref.slug, documentId, uri, sections, total: all.length, ...defined({ nextCursor: next }) }
    return { text: writer.text(), data, links: [{ uri, name: args.document }] }
  },
})

function lineOf({ title, level, firstPage, lastPage, summary }: z.output<typeof Section>): string {
  const pages = firstPage === undefined ? '' : ` (p. ${firstPage}${lastPage === firstPage ? '' : `–${lastPage ?? ''}`})`
  const about = summary === undefined ? '' : `: ${oneLine(summary)}`
  return `${'  '.repeat(Math.max(0, level - 1))}${oneLine(title)}${pages}${about}`
}
