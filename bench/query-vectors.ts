/**
 * What the sketches of vectors save: the nearest 200 of many vectors, by sketches as the product makes them, by the same
 * sketches compared in plain JavaScript, and without sketches. `query-vectors ROWS DIMENSION`; in turns, in one process.
 */
import { scan } from '../src/engine/search/exact-scan.js'
import { LIVE, PENDING, VectorRows } from '../src/engine/search/vector-rows.js'
import { percentile, report } from './lib/report.js'
import { numbers } from './lib/words.js'

const ROWS = Number(process.argv[2] ?? 100_000)
const DIMENSION = Number(process.argv[3] ?? 200)
const CLUSTERS = 300
/** how far a vector is from the centre of its cluster, as a share of a standard normal number */
const SPREAD = 0.7
const TOP = 200
const WARM_UP = 5
const QUERIES = 40
const SEED = 7
/** levels of a row's and of the query's numbers, as in sketch.kernel.ts */
const LEVELS = 127
const QUERY_LEVELS = 2047

const random = numbers(SEED)
const centres = Array.from({ length: CLUSTERS }, () => Float32Array.from({ length: DIMENSION }, normal))
const sketched = new VectorRows(DIMENSION)
const whole = new VectorRows(DIMENSION, false)
const levels = new Int8Array(ROWS * DIMENSION)
for (let key = 0; key < ROWS; key++) {
  const vector = near(centres[key % CLUSTERS]!)
  sketched.put({ key, doc: key, vector })
  whole.put({ key, doc: key, vector })
  levels.set(levelsOf(vector, LEVELS), key * DIMENSION)
}
if (sketched.sketch === undefined) throw new Error('there are no sketches on this platform')

const times = { product: [] as number[], kernel: [] as number[], plain: [] as number[], none: [] as number[] }
const scores = new Float32Array(ROWS)
for (let place = -WARM_UP; place < QUERIES; place++) {
  const query = near(centres[Math.floor(random() * CLUSTERS)]!)
  const filter = { mask: LIVE | PENDING, wanted: LIVE }
  await timed('product', place, () => scan(sketched, query, TOP, filter))
  await timed('kernel', place, () => sketched.sketch?.compare(query, 0, ROWS, scores))
  await timed('plain', place, () => comparePlainly(Int16Array.from(levelsOf(query, QUERY_LEVELS))))
  await timed('none', place, () => scan(whole, query, TOP, filter))
}
const [product, kernel, plain, none] = [times.product, times.kernel, times.plain, times.none].map((ms) =>
  percentile(ms, 0.5),
)
report('query-vectors', [
  { name: 'vectors', value: ROWS, unit: '' },
  { name: 'numbers of each', value: DIMENSION, unit: '' },
  { name: 'search with sketches, p50', value: product!, unit: 'ms' },
  { name: 'its comparison of sketches, p50', value: kernel!, unit: 'ms' },
  { name: 'the same in plain JavaScript, p50', value: plain!, unit: 'ms' },
  { name: 'search without sketches, p50', value: none!, unit: 'ms' },
  { name: 'plain JavaScript adds to a search', value: plain! - kernel!, unit: 'ms' },
  { name: 'going without sketches adds to a search', value: none! - product!, unit: 'ms' },
])

async function timed(kind: keyof typeof times, place: number, work: () => unknown): Promise<void> {
  const started = performance.now()
  await work()
  if (place >= 0) times[kind].push(performance.now() - started)
}

/** What WebAssembly does for the product, as fast as JavaScript is known to: whole numbers, four sums. */
function comparePlainly(query: Int16Array): void {
  const quads = DIMENSION & ~3
  for (let row = 0, at = 0; row < ROWS; row++) {
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    let i = 0
    for (; i < quads; i += 4, at += 4) {
      a = (a + Math.imul(levels[at]!, query[i]!)) | 0
      b = (b + Math.imul(levels[at + 1]!, query[i + 1]!)) | 0
      c = (c + Math.imul(levels[at + 2]!, query[i + 2]!)) | 0
      d = (d + Math.imul(levels[at + 3]!, query[i + 3]!)) | 0
    }
    for (; i < DIMENSION; i++, at++) a = (a + Math.imul(levels[at]!, query[i]!)) | 0
    scores[row] = a + b + c + d
  }
}

function levelsOf(vector: Float32Array, most: number): number[] {
  const largest = vector.reduce((found, value) => Math.max(found, Math.abs(value)), 0)
  return Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((value / largest) * most)))
}

/** A unit vector. */
function near(centre: Float32Array): Float32Array {
  const vector = centre.map((value) => value + SPREAD * normal())
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

/** A standard normal number (Box-Muller). */
function normal(): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
}
