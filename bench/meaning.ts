/**
 * How right the product is in what it says of documents: the gate, languages, answers, contradictions and so on, each a
 * part of its own. `npm run bench:meaning` runs them all, `npm run bench:meaning -- gate answers` some.
 */

import { report } from './lib/report.js'
import { PARTS } from './meaning/parts.js'

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !PARTS.some((part) => part.name === name))
if (unknown.length > 0) {
  console.error(`there is no part ${unknown.join(', ')}; there are ${PARTS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
for (const part of PARTS.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
  process.stdout.write(`\n${part.name}: ${part.measures}\n`)
  report(`meaning-${part.name}`, await part.run())
}
