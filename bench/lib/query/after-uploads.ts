import { createHttpSide } from '../ask.js'
import { makeNotes } from '../corpus.js'
import { type Figure, percentile } from '../report.js'
import { waitUntilSettled } from '../settled.js'
import type { Store } from '../stores.js'
import { computePercentile, computeRatio, measureInTurns } from '../turns.js'
import { measureUploadToSearchable, uploadOneByOne } from '../upload.js'
import { type BenchSpace, openSpace } from './space.js'

const FIRST_UPLOADS = 25
/** many, but too few to rebuild a graph of vectors */
const SOME_UPLOADS = 200
const ALL_UPLOADS = 1_000
const QUERIES_PER_ROUND = 200
const SEED = 1_000
const MAX_RATIO = 1.1

const formatMedian = (rounds: number[][]) => computePercentile(rounds, 0.5).value.toFixed(1)

/**
 * Measures the effect of small uploads on questions: asks two copies of a store in turns, one of which gets the uploads;
 * before them, after 25, 200 and 1,000, and again when the daemon is idle.
 */
export async function measureAfterUploads(
  untouched: BenchSpace,
  store: Store,
  rounds: number,
  bars: { uploads: boolean },
): Promise<Figure[]> {
  const { corpus, size, folder } = untouched
  const changed = await openSpace(corpus, store, `${folder}/taking`)
  try {
    const { client, spaceId } = changed
    const sizeLabel = `${size.toLocaleString('en-US')} passages`
    const compare = async (when: string, bar?: number): Promise<Figure> => {
      const times = { taking: [] as number[][], untouched: [] as number[][] }
      for (let round = 0; round < rounds; round++) {
        const indexes = [...corpus.queries.keys()].slice(-QUERIES_PER_ROUND)
        const roundTimes = await measureInTurns(
          {
            taking: createHttpSide(client, spaceId, corpus.queries),
            untouched: createHttpSide(untouched.client, untouched.spaceId, corpus.queries),
          },
          indexes,
        )
        times.taking.push(roundTimes.taking)
        times.untouched.push(roundTimes.untouched)
      }
      return {
        name: `${sizeLabel}, p50 ${when}`,
        ...computeRatio(times.taking, times.untouched),
        unit: '',
        conditions: `${formatMedian(times.taking)} ms beside ${formatMedian(times.untouched)} of an untouched copy, in turns`,
        ...(bar === undefined ? {} : { bar: { atMost: bar } }),
      }
    }
    const bar = bars.uploads ? MAX_RATIO : undefined
    const control = await compare('before any upload')
    const searchable: number[] = []
    for (let index = 0; index < FIRST_UPLOADS; index++)
      searchable.push(
        await measureUploadToSearchable(
          client,
          spaceId,
          `qxnote${'bcdfghjkmp'[index % 10]}${'aeiou'[Math.floor(index / 10)]}x`,
        ),
      )
    const first = await compare(`after ${FIRST_UPLOADS} small uploads`, bar)
    const notes = makeNotes(ALL_UPLOADS - FIRST_UPLOADS, SEED)
    await uploadOneByOne(client, spaceId, notes.slice(0, SOME_UPLOADS - FIRST_UPLOADS))
    const some = await compare(`after ${SOME_UPLOADS} small uploads`, bar)
    await uploadOneByOne(client, spaceId, notes.slice(SOME_UPLOADS - FIRST_UPLOADS))
    const all = await compare(`right after ${ALL_UPLOADS.toLocaleString('en-US')} small uploads`, bar)
    await waitUntilSettled(client)
    const rested = await compare(`after ${ALL_UPLOADS.toLocaleString('en-US')} small uploads, at rest`, bar)
    return [
      {
        name: `${sizeLabel}, upload to searchable, p50`,
        value: percentile(searchable, 0.5),
        unit: 'ms',
        conditions: `to the answer of a search that names it; ${FIRST_UPLOADS} notes, one at a time`,
      },
      control,
      first,
      some,
      all,
      rested,
    ]
  } finally {
    await changed.close()
  }
}
