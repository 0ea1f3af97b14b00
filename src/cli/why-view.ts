import type { ExplainStage, Explanation } from '../contract/gateway/explain.js'
import { isRecord, textOf } from '../lib/json/values.js'
import type { Colour } from './terminal.js'
import { ttyLine } from './terminal.js'

/** Style of the output. */
interface Marks {
  unicode: boolean
  paint(colour: Colour, text: string): string
}

const SIGNS: Record<ExplainStage['outcome'], { unicode: string; ascii: string; colour: Colour }> = {
  passed: { unicode: '✓', ascii: '+', colour: 'green' },
  missed: { unicode: '○', ascii: 'o', colour: 'yellow' },
  failed: { unicode: '✗', ascii: 'x', colour: 'red' },
  note: { unicode: '·', ascii: '-', colour: 'dim' },
}

/** Formats an explanation: the verdict, a line for each stage, and the hint. */
export function whyLines(found: Explanation, marks: Marks): string[] {
  const shown = found.verdict === 'shown'
  const name = ttyLine(found.document?.filename ?? found.document?.id ?? '')
  const other = found.verdict === 'other-passage-shown' ? ' with the expected passage' : ''
  const verdict = shown
    ? `in the evidence: ${name}`
    : `not in the evidence${other}: ${name} (${ttyLine(found.verdict)})`
  const width = Math.max(0, ...found.stages.map(({ stage }) => stage.length))
  const then = found.verdictNow === undefined ? [] : [`the same question now: ${ttyLine(found.verdictNow)}`]
  return [
    marks.paint(shown ? 'green' : 'red', verdict),
    ...then,
    '',
    ...found.stages.flatMap((stage) => stageLines(stage, width, marks)),
    '',
    `hint: ${ttyLine(found.hint)}`,
  ]
}

function stageLines(stage: ExplainStage, width: number, marks: Marks): string[] {
  const sign = SIGNS[stage.outcome]
  const mark = marks.paint(sign.colour, marks.unicode ? sign.unicode : sign.ascii)
  const line = `  ${mark} ${ttyLine(stage.stage).padEnd(width)}  ${ttyLine(stage.text)}`
  const indent = ' '.repeat(width + 6)
  return [line, ...details(stage).map((detail) => `${indent}${marks.paint('dim', ttyLine(detail))}`)]
}

/** Details that the sentence of a stage omits. */
function details({ figures }: ExplainStage): string[] {
  const { parts, similar, words } = figures
  if (Array.isArray(similar) && similar.length > 0) return [`similar paths: ${similar.join(', ')}`]
  if (Array.isArray(words)) {
    const left = words.filter((entry) => isRecord(entry) && Array.isArray(entry.terms) && entry.terms.length === 0)
    const names = left.flatMap((entry) => (isRecord(entry) ? [textOf(entry.word) ?? ''] : []))
    return names.length === 0 ? [] : [`words not searched for: ${names.join(', ')}`]
  }
  if (Array.isArray(parts)) return parts.map(partLine)
  return []
}

/** `pairs             0.2 x 0.5 = 0.1   (last shown 0.2)` */
function partLine(part: unknown): string {
  if (!isRecord(part)) return ''
  const { name, weight, value, adds, lastShownAdds } = part
  const beside = lastShownAdds === undefined ? '' : `   (last shown ${lastShownAdds})`
  return `${String(name).padEnd(16)}  ${weight} x ${value} = ${adds}${beside}`
}
