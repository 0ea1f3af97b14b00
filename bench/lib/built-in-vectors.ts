import { embedText, openModel } from '../../src/engine/models/builtin/lsa.js'
import { LsaCorpus } from '../../src/engine/models/builtin/lsa-corpus.js'
import type { Workload } from './peers/workload.js'

interface Passage {
  title: string
  text: string
}

/** Adds the vectors of the product's built-in model, trained on the passages, for engines that compute none. */
export function addVectors(passages: readonly Passage[], queries: readonly string[]): Workload {
  const corpus = new LsaCorpus()
  for (const { title, text } of passages) corpus.add(`${title}\n${text}`)
  const model = corpus.train()
  if (model === undefined) throw new Error(`${passages.length} passages are too few to train a model on`)
  const space = openModel(model)
  const embed = (text: string) => embedText(space, text) ?? new Float32Array(model.dimension)
  return {
    documents: passages.map(({ title, text }, index) => ({
      key: index + 1,
      title,
      text,
      vector: embed(`${title}\n${text}`),
    })),
    queries: queries.map((text) => ({ text, vector: embed(text) })),
  }
}
