/** Messages between the embedding thread and its owner. Vectors travel as one buffer, row by row. */

/** `terms`: a query whose texts are terms separated by single spaces. */
export type EmbedPurpose = 'query' | 'terms' | 'document'

export type EmbedRequest =
  | { type: 'load'; id: number; vectorSpaceId: string; bytes: Uint8Array }
  | { type: 'unload'; vectorSpaceId: string }
  | { type: 'embed'; id: number; vectorSpaceId: string; texts: string[]; purpose: EmbedPurpose }
  | { type: 'idf'; id: number; vectorSpaceId: string; terms: string[] }

export type EmbedReply =
  | { id: number; type: 'loaded'; facts: LsaFacts }
  | { id: number; type: 'vectors'; dimension: number; vectors: Float32Array; known: Uint8Array }
  | { id: number; type: 'idf'; values: Float64Array }
  | { id: number; type: 'failed'; message: string }

export interface LsaFacts {
  dimension: number
  /** number of training texts */
  documents: number
  /** number of known terms */
  terms: number
}

/** Requests to the training process: texts in batches, each answered with `taken`, then `train`. */
export type TrainRequest = { type: 'texts'; texts: string[] } | { type: 'train' }

export type TrainReply =
  | { type: 'taken' }
  | { type: 'trained'; bytes: Uint8Array | undefined; documents: number; dimension: number }
