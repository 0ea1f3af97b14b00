/**
 * Correctness of answers, and of the confidence in them: `npm run bench:answers` runs all parts, `-- PART` runs one.
 * `product` asks a daemon plain questions to folders of documents; `quotations` does so with models that were not fitted on
 * the folder; `gold` looks for the gold strings of public sets; `gate` and `abstention` ask questions that a space does not
 * answer; `contradictions` compares statements. `-- fit` writes the weights of the product.
 */
import { run as measureAbstention } from './answers/abstention.js'
import { run as measureContradictions } from './answers/contradictions.js'
import { run as measureGate } from './answers/gate.js'
import { run as measureGold } from './answers/gold.js'
import { judgeProduct } from './answers/product.js'
import { judgeQuotations, writeWeights } from './answers/quotations.js'
import { type AnswerBars, computeAnswerFigures, type Verdict } from './answers/verdicts.js'
import { type Figure, report } from './lib/report.js'

const BARS: AnswerBars = {
  right: 0.78,
  rightAndSure: 0.55,
  wrongAndSure: 0.05,
  wronglyRefused: 0.03,
  medianLength: 400,
}

/** Computes figures of all sets together, with bars, and of each set. */
function computeFigures(name: string, verdicts: ReadonlyMap<string, readonly Verdict[]>) {
  const all = [...verdicts.values()].flat()
  const each = [...verdicts].flatMap(([set, one]) => computeAnswerFigures(`${name}, ${set}`, one))
  return [...computeAnswerFigures(name, all, BARS), ...each]
}

const PARTS: Record<string, () => Promise<Figure[]>> = {
  product: async () => computeFigures('product', await judgeProduct()),
  quotations: async () => computeFigures('quotations', await judgeQuotations()),
  gold: measureGold,
  gate: measureGate,
  abstention: measureAbstention,
  contradictions: measureContradictions,
}

const part = process.argv[2]
if (part === 'fit') {
  await writeWeights()
  process.exit()
}
if (part !== undefined && PARTS[part] === undefined)
  throw new Error(`${part} is no part; there are ${[...Object.keys(PARTS), 'fit'].join(', ')}`)
for (const [name, measure] of Object.entries(PARTS))
  if (part === undefined || part === name) report(`answers-${name}`, await measure())
