import type { ExplainStage, Explanation } from '../contract/gateway/explain.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { type Colour, type OutputStyle, ttyLine } from './terminal.js'

const OUTCOME_SIGNS: Record<ExplainStage['outcome'], { unicode: string; ascii: string; colour: Colour }> = {
  passed: { unicode: '✓', ascii: '+', colour: 'green' },
  missed: { unicode: '○', ascii: 'o', colour: 'yellow' },
  failed: { unicode: '✗', ascii: 'x', colour: 'red' },
  note: { unicode: '·', ascii: '-', colour: 'dim' },
}

/** Formats an explanation: the verdict, a line for each stage, and the hint. */
export function formatExplanation(explanation: Explanation, style: OutputStyle): string[] {
  const isShown = explanation.verdict === 'shown'
  const name = ttyLine(explanation.document?.filename ?? explanation.document?.id ?? '')
  const suffix = explanation.verdict === 'other-passage-shown' ? ' with the expected passage' : ''
  const verdict = isShown
    ? `in the evidence: ${name}`
    : `not in the evidence${suffix}: ${name} (${ttyLine(explanation.verdict)})`
  const width = Math.max(0, ...explanation.stages.map(({ stage }) => stage.length))
  const nowLines =
    explanation.verdictNow === undefined ? [] : [`the same question now: ${ttyLine(explanation.verdictNow)}`]
  return [
    style.paint(isShown ? 'green' : 'red', verdict),
    ...nowLines,
    '',
    ...explanation.stages.flatMap((stage) => formatStage(stage, width, style)),
    '',
    `hint: ${ttyLine(explanation.hint)}`,
  ]
}

function formatStage(stage: ExplainStage, width: number, style: OutputStyle): string[] {
  const sign = OUTCOME_SIGNS[stage.outcome]
  const mark = style.paint(sign.colour, style.unicode ? sign.unicode : sign.ascii)
  const line = `  ${mark} ${ttyLine(stage.stage).padEnd(width)}  ${ttyLine(stage.text)}`
  const indent = ' '.repeat(width + 6)
  return [line, ...listDetails(stage).map((detail) => `${indent}${style.paint('dim', ttyLine(detail))}`)]
}

/** Details that the sentence of a stage omits. */
function listDetails({ figures }: ExplainStage): string[] {
  const { parts, similar, words } = figures
  if (Array.isArray(similar) && similar.length > 0) return [`similar paths: ${similar.join(', ')}`]
  if (Array.isArray(words)) {
    const unsearched = words.filter(
      (entry) => isRecord(entry) && Array.isArray(entry.terms) && entry.terms.length === 0,
    )
    const names = unsearched.flatMap((entry) => (isRecord(entry) ? [toNonEmptyString(entry.word) ?? ''] : []))
    return names.length === 0 ? [] : [`words not searched for: ${names.join(', ')}`]
  }
  if (Array.isArray(parts)) return parts.map(formatPart)
  return []
}

/** `pairs             0.2 x 0.5 = 0.1   (last shown 0.2)` */
function formatPart(part: unknown): string {
  if (!isRecord(part)) return ''
  const { name, weight, value, adds, lastShownAdds } = part
  const suffix = lastShownAdds === undefined ? '' : `   (last shown ${lastShownAdds})`
  return `${String(name).padEnd(16)}  ${weight} x ${value} = ${adds}${suffix}`
}
