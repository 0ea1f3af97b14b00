import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

export default class SourcesPages extends BaseCommand {
  static override summary = 'list the pages of a connector source'
  static override examples = ["<%= config.bin %> sources pages '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(SourcesPages)
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const { workspaces } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/pages', {
      path,
    })
    const pages = workspaces.flatMap(({ pages, workspaceId, workspaceName }) =>
      pages.map((page) => ({ ...page, workspaceId, workspaceName })),
    )
    await this.out.list(pages, {
      columns: [
        { field: 'pageId', title: 'PAGE' },
        { field: 'pageName', title: 'NAME' },
        { field: 'lastEditedTime', title: 'EDITED', kind: 'time' },
        { field: 'workspaceName', title: 'WORKSPACE' },
      ],
      fields: ['type', 'parentId', 'workspaceId'],
      empty: 'There are no pages.',
    })
  }
}
