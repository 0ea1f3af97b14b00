import * as Flags from '@oclif/core/flags'
import type { RetrievalProfileBody } from '../contract/gateway/retrieval-profile.js'
import { CONCRETE_MODES } from '../contract/values.js'
import { usageError } from './cli-error.js'
import { parseModelReference } from './resources.js'

/** Flags that change the retrieval profile of a space. */
export const profileFlags = {
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

interface ProfileFlags {
  'default-mode'?: (typeof CONCRETE_MODES)[number] | undefined
  modes?: string | undefined
  'top-k'?: number | undefined
  'score-threshold'?: string | undefined
  'reasoning-model'?: string | undefined
  rerank?: boolean | undefined
  'rerank-model'?: string | undefined
}

export function hasProfileFlag(flags: ProfileFlags): boolean {
  const given: Readonly<Record<string, unknown>> = { ...flags }
  return Object.keys(profileFlags).some((name) => given[name] !== undefined)
}

/** The profile with the changes of the flags; other fields stay unchanged. @throws CliError exit 2 */
export function changeProfile(
  { revision: _, ...current }: RetrievalProfileBody & { revision: number },
  flags: ProfileFlags,
): RetrievalProfileBody {
  const body: RetrievalProfileBody = { ...current }
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
  return body
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
