import { z } from 'zod'
import { count } from '../../contract/primitives.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { countFitting } from '../budget.js'
import { ToolTextWriter, toOneLine } from '../content.js'
import { formatCursor, parseCursor } from '../cursors.js'
import { resolveDocumentId } from '../documents.js'
import { cursorField, documentField, maxTokensField, nextCursorField, spaceField } from '../fields.js'
import { flattenSections, getDocumentOutline } from '../parts.js'
import { defineTool, READ_ONLY } from '../tool.js'
import { formatUri } from '../uri.js'

const sectionSchema = z.strictObject({
  title: z.string(),
  level: z.int(),
  section: z.array(z.string()).describe('path of the section, for `read`'),
  start: count.optional(),
  end: count.optional(),
  firstPage: z.int().optional(),
  lastPage: z.int().optional(),
  summary: z.string().optional(),
})

export const outline = defineTool({
  name: 'outline',
  title: 'Outline of a document',
  description:
    'List the sections of a document with their pages, in order. Use it before `read` if a document is long.',
  input: z.strictObject({ document: documentField, space: spaceField, maxTokens: maxTokensField, cursor: cursorField }),
  output: () =>
    z.strictObject({
      space: z.string(),
      documentId: z.string(),
      uri: z.string(),
      sections: z.array(sectionSchema),
      total: count,
      nextCursor: nextCursorField,
    }),
  annotations: READ_ONLY,
  run: async ({ maxTokens, cursor, ...args }, call) => {
    const offset = parseCursor(cursor, args)
    const { space, documentId } = await resolveDocumentId(call, args.document, args.space)
    const { nodes } = await getDocumentOutline(call.api, space, documentId)
    const all = flattenSections(nodes).map((node) => ({
      title: node.title,
      level: node.level,
      section: node.sectionPath,
      ...omitUndefined({
        start: node.startOffset,
        end: node.endOffset,
        firstPage: node.startPage,
        lastPage: node.endPage,
        summary: node.summary,
      }),
    }))
    const rest = all.slice(offset)
    const sections = rest.slice(
      0,
      countFitting(rest, maxTokens, ({ section, summary = '' }) => section.join() + summary),
    )
    const end = offset + sections.length
    const nextCursor = end < all.length ? formatCursor(end, args) : undefined
    const uri = formatUri({ space: space.slug, documentId })
    const writer = new ToolTextWriter().line(`${uri}: ${pluralize(all.length, 'section')}`)
    if (sections.length > 0) writer.content(sections.map(formatSection).join('\n'))
    if (nextCursor !== undefined) writer.line(`There is more: call again with cursor ${nextCursor}.`)
    const data = {
      space: space.slug,
      documentId,
      uri,
      sections,
      total: all.length,
      ...omitUndefined({ nextCursor }),
    }
    return { text: writer.text(), data, links: [{ uri, name: args.document }] }
  },
})

function formatSection({ title, level, firstPage, lastPage, summary }: z.output<typeof sectionSchema>): string {
  const pages = firstPage === undefined ? '' : ` (p. ${firstPage}${lastPage === firstPage ? '' : `–${lastPage ?? ''}`})`
  const summaryText = summary === undefined ? '' : `: ${toOneLine(summary)}`
  return `${'  '.repeat(Math.max(0, level - 1))}${toOneLine(title)}${pages}${summaryText}`
}
