import * as Flags from '@oclif/core/flags'
import type { CreateResearchBody } from '../../contract/gateway/research.js'
import { QUERY_MODES } from '../../contract/values.js'
import { defined } from '../../lib/defined.js'
import { usageError } from '../cli-error.js'
import { parseSpan } from '../units.js'

/** Flags of what a task is asked. */
export const askFlags = {
  mode: Flags.option({ char: 'm', options: QUERY_MODES, description: "how to look (default: the space's own)" })(),
  'top-k': Flags.integer({ min: 1, max: 50, helpValue: 'n', description: 'passages of one retrieval' }),
  budget: Flags.string({ helpValue: 'usd', description: 'most US dollars that calls of models may cost' }),
}

/** Flags of what a task may use up. */
export const limitFlags = {
  'max-retrieval-steps': Flags.integer({ min: 1, helpValue: 'n', description: 'most retrievals' }),
  'max-scanned-resources': Flags.integer({ min: 1, helpValue: 'n', description: 'most passages read' }),
  'max-tool-calls': Flags.integer({ min: 1, helpValue: 'n', description: 'most retrievals and calls of models' }),
  'time-limit': Flags.string({ helpValue: '5m', description: 'most time at work' }),
}

interface Asked {
  mode?: string | undefined
  'top-k'?: number | undefined
  budget?: string | undefined
}

/** The parts of a body that the flags say. @throws CliError exit 2 */
export function askedOf(flags: Asked): Partial<Pick<CreateResearchBody, 'mode' | 'topK' | 'budgetUsd'>> {
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
