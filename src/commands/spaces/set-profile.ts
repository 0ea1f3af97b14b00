import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { parseModelReference } from '../../cli/resources.js'
import type { RetrievalProfileBody } from '../../contract/gateway/retrieval-profile.js'
import { CONCRETE_MODES } from '../../contract/values.js'

export default class SpacesSetProfile extends BaseCommand {
  static override summary = 'change the retrieval profile of a space; other fields stay unchanged'
  static override examples = [
    '<%= config.bin %> spaces set-profile example-space --default-mode deep --top-k 20',
    '<%= config.bin %> spaces set-profile example-space --reasoning-model openai-compatible/local/qwen3',
  ]
  static override args = { space: Args.string({ required: true, description: 'slug or id' }) }
  static override flags = {
    'default-mode': Flags.option({ options: CONCRETE_MODES, description: 'mode of queries without a mode' })(),
    modes: Flags.string({ helpValue: 'fast,deep', description: 'modes that queries may use' }),
    'top-k': Flags.integer({ helpValue: 'n', description: 'maximum passages of an answer' }),
    'score-threshold': Flags.string({ helpValue: '0..1', description: 'minimum score of a passage' }),
    'reasoning-model': Flags.string({
      helpValue: 'plugin/provider/model',
      description: 'language model; none removes it',
    }),
    rerank: Flags.boolean({ allowNo: true, description: 'rerank candidates' }),
    'rerank-model': Flags.string({
      helpValue: 'plugin/provider/model',
      description: 'reranking model of fast and deep; none removes it',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesSetProfile)
    const { id } = await this.resolveSpace(args.space)
    const client = await this.client()
    const current = await client.request('GET /knowledge-spaces/{id}/retrieval-profile', { path: { id } })
    const { revision: _, ...body }: RetrievalProfileBody & { revision: number } = current
    if (flags['default-mode'] !== undefined) body.defaultMode = flags['default-mode']
    if (flags.modes !== undefined) body.modes = parseModes(flags.modes)
    if (flags['top-k'] !== undefined) body.topK = flags['top-k']
    if (flags['score-threshold'] !== undefined) body.scoreThreshold = parseThreshold(flags['score-threshold'])
    if (flags['reasoning-model'] === 'none') delete body.reasoningModel
    else if (flags['reasoning-model'] !== undefined) {
      body.reasoningModel = parseModelReference(flags['reasoning-model'], '--reasoning-model')
    }
    if (flags.rerank !== undefined) body.rerank = { ...body.rerank, enabled: flags.rerank }
    if (flags['rerank-model'] === 'none') body.rerank = { enabled: body.rerank.enabled }
    else if (flags['rerank-model'] !== undefined) {
      body.rerank = { enabled: true, model: parseModelReference(flags['rerank-model'], '--rerank-model') }
    }
    this.out.record(await client.request('PUT /knowledge-spaces/{id}/retrieval-profile', { path: { id }, body }))
  }
}

function parseModes(list: string): RetrievalProfileBody['modes'] {
  return list.split(',').map((name) => {
    const mode = CONCRETE_MODES.find((candidate) => candidate === name.trim())
    if (mode === undefined)
      throw usageError(`--modes must be a list of ${CONCRETE_MODES.join(', ')}, received ${JSON.stringify(name)}`)
    return mode
  })
}

function parseThreshold(text: string): number {
  const threshold = Number(text)
  if (text.trim() === '' || !(threshold >= 0 && threshold <= 1)) {
    throw usageError(`--score-threshold must be between 0 and 1, received ${JSON.stringify(text)}`)
  }
  return threshold
}
