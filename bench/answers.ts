/**
 * How right answers are, and whether the product knows when they are: `npm run bench:answers` runs all parts, `-- PART` one.
 * `product` asks a daemon plain questions to folders of documents; `quotations` has models choose that were not fitted on the
 * folder; `gold` looks for the gold string of public sets; `gate` and `abstention` ask questions that a space does not answer;
 * `contradictions` compares statements. `-- fit` writes the weights of the product.
 */
import { run as measureAbstention } from './answers/abstention.js'
import { run as measureContradictions } from './answers/contradictions.js'
import { run as measureGate } from './answers/gate.js'
import { run as measureGold } from './answers/gold.js'
import { productVerdicts } from './answers/product.js'
import { quotationVerdicts, writeWeights } from './answers/quotations.js'
import { type AnswerBars, answerFigures, type Verdict } from './answers/verdicts.js'
import { type Figure, report } from './lib/report.js'

const BARS: AnswerBars = {
  right: 0.78,
  rightAndSure: 0.55,
  wrongAndSure: 0.05,
  wronglyRefused: 0.03,
  medianLength: 400,
}

/** Figures of all sets together, with the bars, and then of each set. */
function figuresOf(name: string, verdicts: ReadonlyMap<string, readonly Verdict[]>) {
  const all = [...verdicts.values()].flat()
  const each = [...verdicts].flatMap(([set, one]) => answerFigures(`${name}, ${set}`, one))
  return [...answerFigures(name, all, BARS), ...each]
}

const PARTS: Record<string, () => Promise<Figure[]>> = {
  product: async () => figuresOf('product', await productVerdicts()),
  quotations: async () => figuresOf('quotations', await quotationVerdicts()),
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
