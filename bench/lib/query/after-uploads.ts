import { overHttp } from '../ask.js'
import { makeNotes } from '../corpus.js'
import { type Figure, percentile } from '../report.js'
import { untilSettled } from '../settled.js'
import type { Store } from '../stores.js'
import { inTurns, percentileOf, ratioOf } from '../turns.js'
import { uploadSingly, uploadToSearchable } from '../upload.js'
import { openSpace, type Space } from './space.js'

const FIRST = 25
/** many, and yet fewer than a graph of vectors was seen to be built anew for */
const SOME = 200
const ALL = 1_000
const QUERIES_A_ROUND = 200
const SEED = 1_000
const BAR = 1.1

const middle = (rounds: number[][]) => percentileOf(rounds, 0.5).value.toFixed(1)

/**
 * What small uploads leave behind: two copies of a store, one of which takes them, asked the same questions in turns;
 * before any, after 25, 200 and 1,000, as soon as the last is published, and again when nothing goes on any more.
 */
export async function afterUploads(
  untouched: Space,
  store: Store,
  rounds: number,
  bars: { uploads: boolean },
): Promise<Figure[]> {
  const { corpus, size, folder } = untouched
  const taking = await openSpace(corpus, store, `${folder}/taking`)
  try {
    const { client, spaceId } = taking
    const shown = `${size.toLocaleString('en-US')} passages`
    const compared = async (when: string, bar?: number): Promise<Figure> => {
      const times = { taking: [] as number[][], untouched: [] as number[][] }
      for (let round = 0; round < rounds; round++) {
        const places = [...corpus.queries.keys()].slice(-QUERIES_A_ROUND)
        const asked = await inTurns(
          {
            taking: overHttp(client, spaceId, corpus.queries),
            untouched: overHttp(untouched.client, untouched.spaceId, corpus.queries),
          },
          places,
        )
        times.taking.push(asked.taking)
        times.untouched.push(asked.untouched)
      }
      return {
        name: `${shown}, p50 ${when}`,
        ...ratioOf(times.taking, times.untouched),
        unit: '',
        beside: `${middle(times.taking)} ms beside ${middle(times.untouched)} of an untouched copy, in turns`,
        ...(bar === undefined ? {} : { bar: { atMost: bar } }),
      }
    }
    const bar = bars.uploads ? BAR : undefined
    const control = await compared('before any upload')
    const searchable: number[] = []
    for (let place = 0; place < FIRST; place++)
      searchable.push(
        await uploadToSearchable(
          client,
          spaceId,
          `qxnote${'bcdfghjkmp'[place % 10]}${'aeiou'[Math.floor(place / 10)]}x`,
        ),
      )
    const first = await compared(`after ${FIRST} small uploads`, bar)
    const notes = makeNotes(ALL - FIRST, SEED)
    await uploadSingly(client, spaceId, notes.slice(0, SOME - FIRST))
    const some = await compared(`after ${SOME} small uploads`, bar)
    await uploadSingly(client, spaceId, notes.slice(SOME - FIRST))
    const all = await compared(`right after ${ALL.toLocaleString('en-US')} small uploads`, bar)
    await untilSettled(client)
    const rested = await compared(`after ${ALL.toLocaleString('en-US')} small uploads, at rest`, bar)
    return [
      {
        name: `${shown}, upload to searchable, p50`,
        value: percentile(searchable, 0.5),
        unit: 'ms',
        beside: `to the answer of a search that names it; ${FIRST} notes, one at a time`,
      },
      control,
      first,
      some,
      all,
      rested,
    ]
  } finally {
    await taking.close()
  }
}
