/**
 * Retrieval quality of the embedded default, without daemon or index files: run with `node scripts/bench.js retrieval-offline`.
 * SciFact's test queries are for the last look; weights are tuned with `--train`.
 */
import { dataFolder, loadDataset, RETRIEVAL_SETS } from './lib/datasets.js'
import { MemorySpace } from './lib/memory-space.js'
import { evaluate, type Figures } from './lib/trec.js'

const folder = dataFolder()
if (folder === undefined) {
  console.log('skipped: the shared data sets are not on this machine')
  process.exit(0)
}

const split = process.argv.includes('--train') ? 'train' : 'test'
const means = new Map<string, number[]>()

function report(label: string, figures: Figures): void {
  const variant = label.slice(label.indexOf(' ') + 1)
  means.set(variant, [...(means.get(variant) ?? []), figures.ndcg10])
  const { ndcg10, recall100, mrr, queries } = figures
  console.log(
    `${label.padEnd(40)} nDCG@10 ${ndcg10.toFixed(4)}  R@100 ${recall100.toFixed(4)}  MRR ${mrr.toFixed(4)}  n=${queries}`,
  )
}

for (const name of RETRIEVAL_SETS) {
  const dataset = loadDataset(folder, name, split)
  for (const chunked of [false, true]) {
    const space = new MemorySpace(dataset.documents, chunked)
    const runs = { text: new Map(), dense: new Map(), fused: new Map(), ranked: new Map() }
    const times: number[] = []
    for (const { id, text } of dataset.queries) {
      const { hits, ranked, rankMs } = space.ask(text)
      const legs = space.legs(hits)
      times.push(rankMs)
      runs.text.set(id, space.documents(legs.text, 100))
      runs.dense.set(id, space.documents(legs.dense, 100))
      runs.fused.set(id, space.documents(legs.fused, 100))
      const order = ranked.map((node) => node.key)
      runs.ranked.set(id, space.documents(order, 100))
    }
    const form = chunked ? 'chunks' : 'whole'
    for (const [leg, run] of Object.entries(runs)) report(`${name} ${form} ${leg}`, evaluate(run, dataset.judged))
    times.sort((a, b) => a - b)
    const at = (share: number): string => (times[Math.floor(share * times.length)] ?? 0).toFixed(2)
    console.log(
      `  ${space.nodes.length} nodes, training ${space.trainMs.toFixed(0)} ms, ranking p50 ${at(0.5)} p95 ${at(0.95)} ms`,
    )
  }
}
for (const [variant, values] of means) {
  console.log(
    `mean ${variant.padEnd(20)} ${(values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(4)}`,
  )
}
