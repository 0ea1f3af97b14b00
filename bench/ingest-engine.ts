/**
 * Storing 20,000 documents with given 384-dimensional vectors: rows in SQLite and the index process, beside LanceDB
 * and FTS5 with sqlite-vec, same documents, each engine in a process of its own. `ingest-engine DOCUMENTS ROUNDS`.
 */
import { compareEngines } from './lib/peers/compare.js'
import { type Figure, report } from './lib/report.js'

const DOCUMENTS = Number(process.argv[2] ?? 20_000)
const ROUNDS = Number(process.argv[3] ?? 3)

const { ours, ...peers } = await compareEngines(DOCUMENTS, ROUNDS)
const figures: Figure[] = [
  { name: 'ours: stored and found', value: ours.searchableRate, unit: 'documents/s' },
  { name: 'ours: graph built as well', value: ours.settledRate, unit: 'documents/s' },
  { name: 'ours: processor time', value: ours.cpuSeconds, unit: 's' },
  { name: 'ours: memory, both processes', value: ours.memoryMb, unit: 'MB' },
  { name: 'ours: memory, shared pages once', value: ours.sharedOnceMb, unit: 'MB' },
  { name: 'ours: peak memory, both processes', value: ours.peakMemoryMb, unit: 'MB' },
]
for (const peer of Object.values(peers)) {
  figures.push(
    { name: `${peer.engine}: stored and found`, value: peer.searchableRate, unit: 'documents/s' },
    { name: `${peer.engine}: processor time`, value: peer.cpuSeconds, unit: 's' },
    { name: `${peer.engine}: memory`, value: peer.memoryMb, unit: 'MB' },
    { name: `${peer.engine}: peak memory`, value: peer.peakMemoryMb, unit: 'MB' },
  )
}
const { lancedb, 'lancedb-our-width': narrow } = peers
figures.push(
  { name: 'rate / LanceDB', value: ours.searchableRate / lancedb.searchableRate, unit: '', bar: { atLeast: 1 } },
  { name: 'rate with graph / LanceDB', value: ours.settledRate / lancedb.searchableRate, unit: '' },
  { name: 'rate / LanceDB at our width', value: ours.searchableRate / narrow.searchableRate, unit: '' },
  { name: 'rate with graph / LanceDB at our width', value: ours.settledRate / narrow.searchableRate, unit: '' },
  { name: 'processor time / LanceDB', value: ours.cpuSeconds / lancedb.cpuSeconds, unit: '' },
  { name: 'processor time / LanceDB at our width', value: ours.cpuSeconds / narrow.cpuSeconds, unit: '' },
  { name: 'resident memory, program text counted twice / LanceDB', value: ours.memoryMb / lancedb.memoryMb, unit: '' },
  {
    name: 'memory, shared pages once / LanceDB',
    value: ours.sharedOnceMb / lancedb.sharedOnceMb,
    unit: '',
    bar: { atMost: 0.6 },
  },
  { name: 'peak memory / LanceDB', value: ours.peakMemoryMb / lancedb.peakMemoryMb, unit: '' },
  { name: 'rate / sqlite-vec', value: ours.searchableRate / peers['sqlite-vec'].searchableRate, unit: '' },
)
report('ingest-engine', figures)
