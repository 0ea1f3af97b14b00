import type { Client } from '../../../src/client/client.js'
import { askAll } from '../ask.js'
import type { Corpus } from '../corpus.js'
import { startDaemon } from '../daemon.js'
import { untilSettled } from '../settled.js'
import { copyStore, type Store } from '../stores.js'

/** A daemon on a copy of a store, warm: nothing goes on behind it, and it has answered some questions. */
export interface Space {
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
/** what a store of a million passages may have left to do when it is opened: the graph of its vectors takes minutes */
const SETTLE_LIMIT_MS = 7_200_000

/** @param folder for the copy and whatever else belongs to it */
export async function openSpace(corpus: Corpus, store: Store, folder: string): Promise<Space> {
  const daemon = await startDaemon(copyStore(store, `${folder}/data`))
  const { client } = daemon
  const { spaceId } = store
  try {
    await untilSettled(client, undefined, SETTLE_LIMIT_MS)
    await askAll(client, spaceId, corpus.queries.slice(0, WARM_UP))
  } catch (error) {
    await daemon.stop()
    throw error
  }
  let open = true
  return {
    size: corpus.passages.length,
    corpus,
    client,
    pid: daemon.pid,
    spaceId,
    folder,
    async close() {
      if (open) await daemon.stop()
      open = false
    },
  }
}
