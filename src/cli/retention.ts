import type { RetentionPolicy, RetentionPolicyBody } from '../contract/gateway/retention.js'
import { findNearest } from '../lib/text/nearest.js'
import { usageError } from './cli-error.js'
import type { OutputColumn } from './columns.js'
import type { Output } from './output.js'

const RETENTION_RULES = [
  'answerTraceRetentionDays',
  'evidenceCacheRetentionDays',
  'inactiveProjectionRetentionDays',
  'parseArtifactVersions',
  'rawDocumentRetentionDays',
  'sessionInactivityMinutes',
] as const

const RETENTION_COLUMNS: OutputColumn[] = [
  { field: 'scope' },
  ...RETENTION_RULES.map((field) => ({ field })),
  { field: 'updatedAt', kind: 'time' },
]

/** Text of an absent limit, in input and output. */
const NO_LIMIT = 'none'

export function printRetentionPolicy(out: Output, policy: RetentionPolicy): void {
  const raw = policy.rawDocumentRetentionDays ?? NO_LIMIT
  out.record(out.isJson ? policy : { ...policy, rawDocumentRetentionDays: raw }, { columns: RETENTION_COLUMNS })
}

/** Parses `rule=number` arguments to the body of a change. @throws CliError exit 2 */
export function parseRetentionChanges(args: readonly string[]): RetentionPolicyBody {
  const body: RetentionPolicyBody = {}
  for (const arg of args) {
    const separatorIndex = arg.indexOf('=')
    const name = separatorIndex === -1 ? arg : arg.slice(0, separatorIndex)
    const rule = RETENTION_RULES.find((known) => known === name)
    if (rule === undefined) throw toUnknownRuleError(name)
    if (separatorIndex === -1) throw usageError(`${rule} needs a value, as in ${rule}=30`)
    if (body[rule] !== undefined) throw usageError(`${rule} is given twice`)
    const text = arg.slice(separatorIndex + 1)
    if (rule === 'rawDocumentRetentionDays')
      body[rule] = text === NO_LIMIT ? null : parsePositiveInteger(rule, text, ', or none')
    else body[rule] = parsePositiveInteger(rule, text)
  }
  return body
}

function toUnknownRuleError(name: string) {
  const nearest = findNearest(name, RETENTION_RULES)
  return usageError(
    `unknown retention rule ${JSON.stringify(name)}`,
    nearest === undefined ? `the rules are ${RETENTION_RULES.join(', ')}` : `did you mean ${nearest}?`,
  )
}

function parsePositiveInteger(rule: string, text: string, alternative = ''): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1)
    throw usageError(`${rule} must be an integer above 0${alternative}, received ${JSON.stringify(text)}`)
  return value
}
