import { duration } from '../units.js'
import type { Answer } from './ask.js'
import { degradedWord } from './degraded.js'
import { citedEvidence } from './evidence.js'

/** `auto → fast · answerable · 2 of 10 items · 312 ms · trace #9f31c2aa` */
export function footer(answer: Answer, marks: { arrow: string }, traceShort: string): string {
  const { requestedMode, resolvedMode } = answer
  const mode =
    requestedMode === resolvedMode || requestedMode === undefined
      ? resolvedMode
      : `${requestedMode} ${marks.arrow} ${resolvedMode ?? '?'}`
  const used = citedEvidence(answer).length
  const parts = [
    mode,
    answer.evidenceState ?? answer.finishReason,
    `${used} of ${answer.evidence.length} items`,
    degradedWord(answer.degraded),
    duration(answer.tookMs),
    `trace ${traceShort}`,
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}
