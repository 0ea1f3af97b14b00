import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { spaceFlag } from '../cli/common-flags.js'
import { resolveDocument } from '../cli/resolve.js'
import { readTextOrStdin } from '../cli/stdin.js'
import type { ExplainBody } from '../contract/gateway/explain.js'
import { QUERY_MODES } from '../contract/values.js'

/** A UUID, or `#` with its last digits. Every other text is a path. */
const ID_PATTERN = /^(?:#[0-9a-f]{8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

export default class Why extends BaseCommand {
  static override isPaged = true
  static override summary = 'explain, stage by stage, why a document is or is not in the evidence of a question'
  static override description =
    'Runs the question again through the normal query code and observes it. Exits with 0 in any case; the verdict is in the output.'
  static override examples = [
    '<%= config.bin %> why "who is on call in August?" handbook/on-call.md --space example-space',
    "<%= config.bin %> why --trace '#9f31c2aa' handbook/on-call.md --space example-space",
  ]
  static override args = {
    question: Args.string({ required: true, description: 'question; - reads stdin; omit it with --trace' }),
    path: Args.string({ description: 'path or id of the document' }),
  }
  static override flags = {
    ...spaceFlag,
    mode: Flags.option({
      char: 'm',
      options: QUERY_MODES,
      description: 'query mode (default: mode of the space)',
    })(),
    trace: Flags.string({ helpValue: 'id|last', description: 'explain this recorded query instead of a new one' }),
    doc: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'path|id',
      description: 'documents to which the question is limited',
    }),
    quote: Flags.string({ helpValue: 'text', description: 'only passages that contain this text' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Why)
    const { trace } = flags
    const [question, document] =
      trace === undefined ? [args.question, args.path] : [undefined, args.path ?? args.question]
    if (trace !== undefined && args.path !== undefined) {
      throw usageError('--trace already selects the question: give only the document')
    }
    if (document === undefined) throw usageError('no document is given', 'give its path or id after the question')
    const { id } = await this.space()
    const client = await this.client()
    const body: Partial<ExplainBody> = {}
    if (trace !== undefined) body.traceId = await this.resolveIdOrLast('trace', trace)
    else body.query = await this.readQuestion(question ?? '')
    if (ID_PATTERN.test(document)) body.documentId = await resolveDocument(client, id, document, this.dirs.cache)
    else body.path = document
    const mode = QUERY_MODES.find((candidate) => candidate === this.settings.mode?.value)
    if (mode !== undefined && trace === undefined) body.mode = mode
    if (flags.quote !== undefined) body.quote = flags.quote
    if (flags.doc !== undefined) {
      const { documentIds } = await this.resolveDocuments(flags.doc)
      body.activeDocumentIds = documentIds
    }
    const explanation = await client.request('POST /knowledge-spaces/{id}/queries/explain', { path: { id }, body })
    if (this.out.isJson) this.out.json(explanation)
    else if (this.out.format === 'tsv') {
      const columns = [{ field: 'stage' }, { field: 'outcome' }, { field: 'reason' }, { field: 'text' }]
      await this.out.list(explanation.stages, { columns, empty: 'Nothing was found.' })
    } else {
      const { formatExplanation } = await import('../cli/why-view.js')
      const marks = { unicode: this.out.unicode, paint: this.out.paint.bind(this.out) }
      for (const line of formatExplanation(explanation, marks)) this.out.styled(line)
    }
  }

  private async readQuestion(text: string): Promise<string> {
    const query = await readTextOrStdin(text, 'the question')
    if (query === '') throw usageError('the question is empty')
    return query
  }
}
