import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { COVERAGE_FIELDS, formatCoverageNote, formatTopicsNote, TOPICS_FIELDS } from '../../cli/views.js'
import { LIMITS } from '../../contract/limits.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class ViewsTopic extends BaseCommand {
  static override isPaged = true
  static override summary = 'build a topic from documents, or all topics of a space'
  static override description =
    'Without a name, all topics are derived from common content of the documents. List them with `ks fs ls /knowledge/topics`.'
  static override examples = [
    '<%= config.bin %> views topic --space example-space',
    '<%= config.bin %> views topic --name "Data retention" --slug retention --space example-space',
  ]
  static override flags = {
    ...spaceFlag,
    name: Flags.string({ helpValue: 'text', description: 'subject of the documents' }),
    slug: Flags.string({ helpValue: 'slug', description: 'folder of the topic (default: from the name)' }),
    'view-version': Flags.string({ helpValue: 'text', description: 'version name of the view' }),
    limit: Flags.integer({
      helpValue: 'n',
      description: `maximum documents of a topic, up to ${LIMITS.viewItems.max}`,
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(ViewsTopic)
    const { id } = await this.space()
    const client = await this.client()
    const result = await client.request('POST /knowledge-spaces/{id}/semantic-views/topic/materialize', {
      path: { id },
      body: omitUndefined({
        topicName: flags.name,
        topicSlug: flags.slug,
        generatedVersion: flags['view-version'],
        limit: flags.limit,
      }),
    })
    this.out.record(result, {
      fields: [
        'topicName',
        'topicSlug',
        'generatedVersion',
        'documentCount',
        'pathCount',
        ...COVERAGE_FIELDS,
        ...TOPICS_FIELDS,
      ],
    })
    const topicNote = formatTopicsNote(result)
    if (topicNote !== undefined) this.out.note(topicNote)
    const coverage = formatCoverageNote(result)
    if (coverage !== undefined) this.out.note(coverage)
  }
}
