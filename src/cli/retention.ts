import type { RetentionPolicy, RetentionPolicyBody } from '../contract/gateway/retention.js'
import { nearest } from '../lib/text/nearest.js'
import { usageError } from './cli-error.js'
import type { Column } from './columns.js'
import type { Output } from './output.js'

const COLUMNS: Column[] = [
  { field: 'scope' },
  { field: 'answerTraceRetentionDays' },
  { field: 'evidenceCacheRetentionDays' },
  { field: 'inactiveProjectionRetentionDays' },
  { field: 'parseArtifactVersions' },
  { field: 'rawDocumentRetentionDays' },
  { field: 'sessionInactivityMinutes' },
  { field: 'updatedAt', kind: 'time' },
]

/** Text of an absent limit, in input and output. */
const NEVER = 'none'

export function printPolicy(out: Output, policy: RetentionPolicy): void {
  const raw = policy.rawDocumentRetentionDays ?? NEVER
  out.record(out.isJson ? policy : { ...policy, rawDocumentRetentionDays: raw }, { columns: COLUMNS })
}

const RULES = [
  'answerTraceRetentionDays',
  'evidenceCacheRetentionDays',
  'inactiveProjectionRetentionDays',
  'parseArtifactVersions',
  'rawDocumentRetentionDays',
  'sessionInactivityMinutes',
] as const

/** Parses `rule=number` arguments to the body of a change. @throws CliError exit 2 */
export function retentionChanges(words: readonly string[]): RetentionPolicyBody {
  const body: RetentionPolicyBody = {}
  for (const word of words) {
    const at = word.indexOf('=')
    const name = at === -1 ? word : word.slice(0, at)
    const rule = RULES.find((known) => known === name)
    if (rule === undefined) throw unknownRule(name)
    if (at === -1) throw usageError(`${rule} needs a value, as in ${rule}=30`)
    if (body[rule] !== undefined) throw usageError(`${rule} is given twice`)
    const text = word.slice(at + 1)
    if (rule === 'rawDocumentRetentionDays') body[rule] = text === NEVER ? null : numberOf(rule, text, ', or none')
    else body[rule] = numberOf(rule, text)
  }
  return body
}

function unknownRule(name: string) {
  const near = nearest(name, RULES)
  return usageError(
    `unknown retention rule ${JSON.stringify(name)}`,
    near === undefined ? `the rules are ${RULES.join(', ')}` : `did you mean ${near}?`,
  )
}

function numberOf(rule: string, text: string, alternative = ''): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1)
    throw usageError(`${rule} must be an integer above 0${alternative}, received ${JSON.stringify(text)}`)
  return value
}
