import { parentPort } from 'node:worker_threads'
import { analyzeQuery, forEachTerm } from '../../../lib/text/analyze.js'
import { embedTerms, inverseFrequency, type LsaSpace, openModel } from './lsa.js'
import { parseModel } from './lsa-file.js'
import type { EmbedReply, EmbedRequest } from './lsa-messages.js'

/** Documents are embedded in slices of this duration, so that a query never waits longer. */
const SLICE_MS = 1

interface EmbedJob {
  id: number
  space: LsaSpace
  texts: string[]
  next: number
  vectors: Float32Array
  known: Uint8Array
}

const spaces = new Map<string, LsaSpace>()
const jobs: EmbedJob[] = []

function reply(message: EmbedReply, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

function embedNextText(job: EmbedJob, terms: string[]): void {
  const { space, next } = job
  const vector = embedTerms(space, terms)
  if (vector !== undefined) {
    job.vectors.set(vector, next * space.model.dimension)
    job.known[next] = 1
  }
  job.next++
}

function finishJob(job: EmbedJob): void {
  const { id, vectors, known } = job
  const { buffer } = vectors
  reply(
    { id, type: 'vectors', dimension: job.space.model.dimension, vectors, known },
    buffer instanceof ArrayBuffer ? [buffer] : [],
  )
}

/** Runs one slice of the oldest job; messages that arrived meanwhile are handled before the next slice. */
function runSlice(): void {
  const deadline = performance.now() + SLICE_MS
  for (let job = jobs[0]; job !== undefined && performance.now() < deadline; job = jobs[0]) {
    if (job.next < job.texts.length) {
      const terms: string[] = []
      forEachTerm(job.texts[job.next] ?? '', (term) => terms.push(term))
      embedNextText(job, terms)
    } else {
      jobs.shift()
      finishJob(job)
    }
  }
  if (jobs.length > 0) setImmediate(runSlice)
}

function startEmbedding(space: LsaSpace, request: EmbedRequest & { type: 'embed' }): void {
  const { id, purpose, texts } = request
  const vectors = new Float32Array(texts.length * space.model.dimension)
  const job: EmbedJob = { id, space, texts, next: 0, vectors, known: new Uint8Array(texts.length) }
  if (purpose !== 'document') {
    for (const text of texts) embedNextText(job, purpose === 'terms' ? text.split(' ') : analyzeQuery(text))
    finishJob(job)
    return
  }
  jobs.push(job)
  if (jobs.length === 1) setImmediate(runSlice)
}

function handleRequest(request: EmbedRequest): void {
  if (request.type === 'unload') {
    spaces.delete(request.vectorSpaceId)
    return
  }
  if (request.type === 'load') {
    const model = parseModel(request.bytes)
    spaces.set(request.vectorSpaceId, openModel(model))
    const { dimension, documents, terms } = model
    reply({ id: request.id, type: 'loaded', facts: { dimension, documents, terms: terms.length } })
    return
  }
  const space = spaces.get(request.vectorSpaceId)
  if (space === undefined) throw new Error(`the model of vector space ${request.vectorSpaceId} is not loaded`)
  if (request.type === 'embed') startEmbedding(space, request)
  else
    reply({ id: request.id, type: 'idf', values: Float64Array.from(request.terms, (t) => inverseFrequency(space, t)) })
}

parentPort?.on('message', (request: EmbedRequest) => {
  try {
    handleRequest(request)
  } catch (error) {
    if (request.type === 'unload') throw error
    reply({ id: request.id, type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
})
