import * as Flags from '@oclif/core/flags'
import type { CreateResearchBody } from '../../contract/gateway/research.js'
import { QUERY_MODES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { usageError } from '../cli-error.js'
import { parseSpan } from '../units.js'

export const researchQueryFlags = {
  mode: Flags.option({ char: 'm', options: QUERY_MODES, description: 'query mode (default: that of the space)' })(),
  'top-k': Flags.integer({ min: 1, max: 50, helpValue: 'n', description: 'number of passages of one retrieval' }),
  budget: Flags.string({ helpValue: 'usd', description: 'maximum cost of model calls in US dollars' }),
}

export const researchLimitFlags = {
  'max-retrieval-steps': Flags.integer({ min: 1, helpValue: 'n', description: 'maximum number of retrievals' }),
  'max-scanned-resources': Flags.integer({ min: 1, helpValue: 'n', description: 'maximum number of passages read' }),
  'max-tool-calls': Flags.integer({
    min: 1,
    helpValue: 'n',
    description: 'maximum number of retrievals and model calls',
  }),
  'time-limit': Flags.string({ helpValue: '5m', description: 'maximum working time' }),
}

interface ResearchQueryFlags {
  mode?: string | undefined
  'top-k'?: number | undefined
  budget?: string | undefined
}

/** Converts the flags to fields of the request body. @throws CliError exit 2 */
export function toTaskOptions(
  flags: ResearchQueryFlags,
): Partial<Pick<CreateResearchBody, 'mode' | 'topK' | 'budgetUsd'>> {
  const mode = QUERY_MODES.find((known) => known === flags.mode)
  return {
    ...omitUndefined({ mode, topK: flags['top-k'] }),
    ...(flags.budget === undefined ? {} : { budgetUsd: parseDollars(flags.budget) }),
  }
}

interface ResearchLimitFlags {
  'max-retrieval-steps'?: number | undefined
  'max-scanned-resources'?: number | undefined
  'max-tool-calls'?: number | undefined
  'time-limit'?: string | undefined
}

/** Converts the flags to the limits of the request body; empty without any. @throws CliError exit 2 */
export function toResearchLimits(flags: ResearchLimitFlags): Partial<Pick<CreateResearchBody, 'limits'>> {
  const limits = omitUndefined({
    maxRetrievalSteps: flags['max-retrieval-steps'],
    maxScannedResources: flags['max-scanned-resources'],
    maxToolCalls: flags['max-tool-calls'],
    timeoutMs: flags['time-limit'] === undefined ? undefined : parseSpan(flags['time-limit'], '--time-limit'),
  })
  return Object.keys(limits).length === 0 ? {} : { limits }
}

function parseDollars(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text))
    throw usageError(`--budget must be dollars such as 0.25, received ${JSON.stringify(text)}`)
  return Number(text)
}
