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
  spaceId: string
  folder: string
  close(): Promise<void>
}

const WARM_UP = 100

/** @param folder for the copy and whatever else belongs to it */
export async function openSpace(corpus: Corpus, store: Store, folder: string): Promise<Space> {
  const daemon = await startDaemon(copyStore(store, `${folder}/data`))
  const { client } = daemon
  const { spaceId } = store
  await untilSettled(client)
  await askAll(client, spaceId, corpus.queries.slice(0, WARM_UP))
  let open = true
  return {
    size: corpus.passages.length,
    corpus,
    client,
    spaceId,
    folder,
    async close() {
      if (open) await daemon.stop()
      open = false
    },
  }
}
