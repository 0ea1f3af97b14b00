/**
 * Plain questions to folders of documents: whether answers are right, and whether the product knows when they are.
 * `-- product` measures answers of the product without a model, `-- quotations` those of a trained choice of complete
 * blocks to the same questions by models that were not fitted on them; without an argument both. `-- fit` writes the
 * weights of the product.
 */
import { productVerdicts } from './answers/product.js'
import { quotationVerdicts, writeWeights } from './answers/quotations.js'
import { type AnswerBars, answerFigures, type Verdict } from './answers/verdicts.js'
import { report } from './lib/report.js'

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

const part = process.argv[2]
if (part === 'fit') {
  await writeWeights()
  process.exit()
}
if (part !== 'quotations') report('answers-product', figuresOf('product', await productVerdicts()))
if (part !== 'product') report('answers-quotations', figuresOf('quotations', await quotationVerdicts()))
