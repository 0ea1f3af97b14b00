import type { Client } from '../../../src/client/client.js'
import { askAll } from '../ask.js'
import type { Corpus } from '../corpus.js'
import { startDaemon } from '../daemon.js'
import { waitUntilSettled } from '../settled.js'
import { copyStore, type Store } from '../stores.js'

/** An idle daemon on a copy of a store that has answered some questions. */
export interface BenchSpace {
  size: number
  corpus: Corpus
  client: Client
  /** of the daemon */
  pid: number
  spaceId: string
  folder: string
  close(): Promise<void>
}

const WARM_UP = 100
/** a store of a million passages may have to build its graph of vectors */
const SETTLE_TIMEOUT_MS = 7_200_000

/** @param folder for the copy and other files of the space */
export async function openSpace(corpus: Corpus, store: Store, folder: string): Promise<BenchSpace> {
  const daemon = await startDaemon(copyStore(store, `${folder}/data`))
  const { client } = daemon
  const { spaceId } = store
  try {
    await waitUntilSettled(client, undefined, SETTLE_TIMEOUT_MS)
    await askAll(client, spaceId, corpus.queries.slice(0, WARM_UP))
  } catch (error) {
    await daemon.stop()
    throw error
  }
  let isOpen = true
  return {
    size: corpus.passages.length,
    corpus,
    client,
    pid: daemon.pid,
    spaceId,
    folder,
    async close() {
      if (isOpen) await daemon.stop()
      isOpen = false
    },
  }
}
