import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asksTheSame, readQuestion } from '../src/engine/chat/annotations/question.js'
import { ROOT } from './lib/daemon.js'
import { type Figure, report } from './lib/report.js'

/** Which pairs of questions an annotation reply takes for the same; the held-out half was never looked at by who made the rules. */

interface Pair {
  label: string
  part: string
  origin: string
  hit: boolean
}

const pairs = readFileSync(join(ROOT, 'test', 'fixtures', 'question-pairs.tsv'), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line): Pair => {
    const [, label = '', part = '', origin = '', one = '', another = ''] = line.split('\t')
    return { label, part, origin, hit: asksTheSame(readQuestion(one), readQuestion(another)) }
  })

/** Per cent of the pairs that are taken for the same. */
function share(of: readonly Pair[]): Pick<Figure, 'value' | 'unit' | 'note'> {
  const hits = of.filter(({ hit }) => hit).length
  return { value: of.length === 0 ? 0 : (100 * hits) / of.length, unit: '%', note: `${hits} of ${of.length}` }
}

const partOf = (part: string, label: string) => pairs.filter((pair) => pair.part === part && pair.label === label)
const others = partOf('held-out', 'other')
const origins = [...new Set(others.map(({ origin }) => origin))].sort()

report('annotations', [
  { name: 'false hits, held out', ...share(others), bar: { atMost: 1 } },
  ...origins.map((origin) => ({
    name: `  of them ${origin}`,
    ...share(others.filter((pair) => pair.origin === origin)),
  })),
  { name: 'rewordings hit, held out', ...share(partOf('held-out', 'same')), bar: { atLeast: 65 } },
  { name: 'false hits, tuning', ...share(partOf('tuning', 'other')) },
  { name: 'rewordings hit, tuning', ...share(partOf('tuning', 'same')) },
])
