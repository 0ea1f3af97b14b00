import * as Flags from '@oclif/core/flags'
import type { CreateResearchBody } from '../../contract/gateway/research.js'
import { QUERY_MODES } from '../../contract/values.js'
import { defined } from '../../lib/defined.js'
import { usageError } from '../cli-error.js'
import { parseSpan } from '../units.js'

/** Flags of a research query. */
export const askFlags = {
  mode: Flags.option({ char: 'm', options: QUERY_MODES, description: "query mode (default: that of the space)" })(),
  'top-k': Flags.integer({ min: 1, max: 50, helpValue: 'n', description: 'number of passages of one retrieval' }),
  budget: Flags.string({ helpValue: 'usd', description: 'maximum cost of model calls in US dollars' }),
}

/** Flags of the limits of a task. */
export const limitFlags = {
  'max-retrieval-steps': Flags.integer({ min: 1, helpValue: 'n', description: 'maximum number of retrievals' }),
  'max-scanned-resources': Flags.integer({ min: 1, helpValue: 'n', description: 'maximum number of passages read' }),
  'max-tool-calls': Flags.integer({ min: 1, helpValue: 'n', description: 'maximum number of retrievals and model calls' }),
  'time-limit': Flags.string({ helpValue: '5m', description: 'maximum working time' }),
}

interface Asked {
  mode?: string | undefined
  'top-k'?: number | undefined
  budget?: string | undefined
}

/** Converts the flags to fields of the request body. @throws CliError exit 2 */
export function taskOptions(flags: Asked): Partial<Pick<CreateResearchBody, 'mode' | 'topK' | 'budgetUsd'>> {
  const mode = QUERY_MODES.find((known) => known === flags.mode)
  return {
    ...defined({ mode, topK: flags['top-k'] }),
    ...(flags.budget === undefined ? {} : { budgetUsd: dollars(flags.budget) }),
  }
}

interface Limits {
  'max-retrieval-steps'?: number | undefined
  'max-scanned-resources'?: number | undefined
  'max-tool-calls'?: number | undefined
  'time-limit'?: string | undefined
}

/** @throws CliError exit 2 */
export function limitsOf(flags: Limits): Partial<Pick<CreateResearchBody, 'limits'>> {
  const given = {
    maxRetrievalSteps: flags['max-retrieval-steps'],
    maxScannedResources: flags['max-scanned-resources'],
    maxToolCalls: flags['max-tool-calls'],
    timeoutMs: flags['time-limit'] === undefined ? undefined : parseSpan(flags['time-limit'], '--time-limit'),
  }
  const limits = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return Object.keys(limits).length === 0 ? {} : { limits }
}

function dollars(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text))
    throw usageError(`--budget must be dollars such as 0.25, received ${JSON.stringify(text)}`)
  return Number(text)
}
