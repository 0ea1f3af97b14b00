import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { drawTree } from '../../cli/tree.js'
import type { OutlineNode } from '../../contract/gateway/document-parts.js'

export default class DocsOutline extends BaseCommand {
  static override isPaged = true
  static override summary = 'show the sections of a document'
  static override examples = ["<%= config.bin %> docs outline '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'path or id of the document' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(DocsOutline)
    const { id, documentId } = await this.resolveDocument(args.id)
    const client = await this.client()
    const outline = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
      path: { id, documentId },
    })
    if (this.out.format === 'json') {
      this.out.json(outline)
    } else if (this.out.format === 'table') {
      const label = ({ title, startPage }: OutlineNode) =>
        startPage === undefined ? title : `${title}  p. ${startPage}`
      const lines = drawTree(outline.nodes, { label, children: (node) => node.children, unicode: this.out.unicode })
      for (const line of lines) this.out.line(line)
      if (lines.length === 0) this.out.note('The document has no sections.')
    } else {
      await this.out.list(flatten(outline.nodes), {
        columns: [{ field: 'level' }, { field: 'title' }, { field: 'startPage' }, { field: 'startOffset' }],
        fields: ['id', 'sectionPath', 'endPage', 'endOffset', 'summary', 'metadata'],
        empty: 'The document has no sections.',
      })
    }
  }
}

function* flatten(nodes: OutlineNode[]): Generator<Omit<OutlineNode, 'children'>> {
  for (const { children, ...node } of nodes) {
    yield node
    yield* flatten(children)
  }
}
