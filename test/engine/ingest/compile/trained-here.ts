import { LsaCorpus } from '../../../../src/engine/models/builtin/lsa-corpus.js'
import { serializeModel } from '../../../../src/engine/models/builtin/lsa-file.js'
import type { trainLsa as trainInProcess } from '../../../../src/engine/models/builtin/lsa-trainer.js'

/** Trains the same model in this process, which saves a test the start of another one. */
export const trainLsa: typeof trainInProcess = async (batches, signal) => {
  signal?.throwIfAborted()
  const corpus = new LsaCorpus()
  for await (const texts of batches) for (const text of texts) corpus.add(text)
  signal?.throwIfAborted()
  const model = corpus.train()
  if (model === undefined) return undefined
  return { bytes: serializeModel(model), dimension: model.dimension, documents: model.documents }
}
