/**
 * Hybrid queries over 20,000 documents, top 10, texts read: through the index process, beside LanceDB and FTS5 with
 * sqlite-vec, same queries, each engine in a process of its own. `query-engine DOCUMENTS ROUNDS`.
 */
import { compareEngines } from './lib/peers/compare.js'
import { type Figure, report } from './lib/report.js'

const DOCUMENTS = Number(process.argv[2] ?? 20_000)
const ROUNDS = Number(process.argv[3] ?? 3)

const engines = await compareEngines(DOCUMENTS, ROUNDS)
const { ours, lancedb, 'lancedb-our-width': narrow, 'sqlite-vec': vec } = engines
const figures: Figure[] = Object.values(engines).flatMap(({ engine, p50, p95, p99, vectorP50, recall }) => [
  { name: `${engine}: hybrid p50`, value: p50, unit: 'ms' },
  { name: `${engine}: hybrid p95`, value: p95, unit: 'ms' },
  { name: `${engine}: hybrid p99`, value: p99, unit: 'ms' },
  { name: `${engine}: vector p50`, value: vectorP50, unit: 'ms' },
  { name: `${engine}: recall@10`, value: recall, unit: '', ...(engine === 'ours' ? { bar: { atLeast: 0.98 } } : {}) },
])
figures.push(
  { name: 'p50 / LanceDB', value: ours.p50 / lancedb.p50, unit: '', bar: { atMost: 0.5 } },
  { name: 'p95 / LanceDB', value: ours.p95 / lancedb.p95, unit: '' },
  { name: 'p50 / LanceDB at our width', value: ours.p50 / narrow.p50, unit: '' },
  { name: 'p50 / sqlite-vec', value: ours.p50 / vec.p50, unit: '' },
  { name: 'recall / LanceDB', value: ours.recall / lancedb.recall, unit: '', bar: { atLeast: 1 } },
)
report('query-engine', figures)
