import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { Community } from '../../contract/gateway/communities.js'

export default class GraphCommunities extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the communities of a space, or print the report of one'
  static override description =
    'A report describes how the members are related, with cited sentences from the documents. If the retrieval profile has a reasoning model, `ks api materializeCommunities` lets the model write the report from these sentences.'
  static override examples = ['<%= config.bin %> graph communities --space example-space']
  static override args = { slug: Args.string({ description: 'slug of the community' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(GraphCommunities)
    const { id } = await this.space()
    const client = await this.client()
    const result = await client.request('GET /knowledge-spaces/{id}/semantic-views/communities', {
      path: { id },
      query: args.slug === undefined ? {} : { slug: args.slug },
    })
    this.reportDegradation(result)
    const [community] = result.items
    if (args.slug !== undefined && community !== undefined && this.out.format === 'table') this.printReport(community)
    else if (args.slug !== undefined && community !== undefined) this.out.json(community)
    else
      await this.out.list(result.items, {
        columns: [
          { field: 'slug' },
          { field: 'name' },
          { field: 'entityCount', title: 'ENTITIES', kind: 'count' },
          { field: 'documentCount', title: 'DOCUMENTS', kind: 'count' },
        ],
        empty: 'No communities.',
      })
  }

  private printReport({ report: { title, statements, writtenBy }, terms }: Community): void {
    this.out.line(title)
    this.out.line('')
    const sources = new Map<string, { number: number; line: string }>()
    for (const { text, citations } of statements) {
      const marks = citations.map(({ nodeId, filename, pageNumber }) => {
        const page = pageNumber === undefined ? '' : `, p. ${pageNumber}`
        const source = sources.get(nodeId) ?? { number: sources.size + 1, line: `${filename}${page}` }
        sources.set(nodeId, source)
        return `[${source.number}]`
      })
      this.out.line(`${text} ${marks.join('')}`)
    }
    if (statements.length === 0) this.out.line('No sentence mentions two of its members.')
    this.out.line('')
    for (const { number, line } of sources.values()) this.out.line(`[${number}] ${line}`)
    this.out.note(
      `${writtenBy === 'model' ? 'Written by the model' : 'Quoted from the documents'}; members: ${terms.join(', ')}`,
    )
  }
}
