import '../../../lib/no-debugger.js'
import { LsaCorpus } from './lsa-corpus.js'
import { serializeModel } from './lsa-file.js'
import type { TrainReply, TrainRequest } from './lsa-messages.js'

const corpus = new LsaCorpus()

function reply(message: TrainReply): void {
  process.send?.(message)
}

function train(): void {
  const model = corpus.train()
  reply(
    model === undefined
      ? { type: 'trained', bytes: undefined, documents: corpus.documents, dimension: 0 }
      : { type: 'trained', bytes: serializeModel(model), documents: model.documents, dimension: model.dimension },
  )
}

process.on('message', (request: TrainRequest) => {
  if (request.type === 'train') {
    train()
    return
  }
  for (const text of request.texts) corpus.add(text)
  reply({ type: 'taken' })
})

// The daemon has ended: the model is no longer needed.
process.on('disconnect', () => process.exit(0))
