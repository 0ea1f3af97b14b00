import { parentPort } from 'node:worker_threads'
import { LsaCorpus } from './lsa-corpus.js'
import { serializeModel } from './lsa-file.js'
import type { TrainReply, TrainRequest } from './lsa-messages.js'

const corpus = new LsaCorpus()

function reply(message: TrainReply, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

function train(): void {
  const model = corpus.train()
  if (model === undefined) {
    reply({ type: 'trained', bytes: undefined, documents: corpus.documents, dimension: 0 })
    return
  }
  const bytes = serializeModel(model)
  const message: TrainReply = { type: 'trained', bytes, documents: model.documents, dimension: model.dimension }
  reply(message, bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [])
}

parentPort?.on('message', (request: TrainRequest) => {
  if (request.type === 'train') {
    train()
    return
  }
  for (const text of request.texts) corpus.add(text)
  reply({ type: 'taken' })
})
