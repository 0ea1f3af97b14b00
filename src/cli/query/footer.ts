import { formatCount, pluralize } from '../../lib/text/pluralize.js'
import { formatDuration } from '../units.js'
import type { QueryAnswer } from './ask.js'
import { formatDegradations } from './degraded.js'
import { selectCitedEvidence } from './evidence.js'
import { formatSpaceCount, parseSearchedSpaces } from './searched-spaces.js'

/** `auto → fast · answerable · 2 of 10 passages cited · 312 ms · trace #9f31c2aa` */
export function formatFooter(answer: QueryAnswer, symbols: { arrow: string }, traceText: string): string {
  const { requestedMode, resolvedMode } = answer
  const mode =
    requestedMode === resolvedMode || requestedMode === undefined
      ? resolvedMode
      : `${requestedMode} ${symbols.arrow} ${resolvedMode ?? '?'}`
  const used = selectCitedEvidence(answer).length
  const parts = [
    mode,
    answer.evidenceState ?? answer.finishReason,
    `${formatCount(used)} of ${pluralize(answer.evidence.length, 'passage')} cited`,
    formatSpaceCount(parseSearchedSpaces(answer.metadata)),
    formatDegradations(answer.degraded),
    formatDuration(answer.tookMs),
    `trace ${traceText}`,
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}
