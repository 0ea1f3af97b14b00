import { parentPort } from 'node:worker_threads'
import { analyzeQuery, forEachTerm } from '../../../lib/text/analyze.js'
import { embedTerms, inverseFrequency, type LsaSpace, openModel } from './lsa.js'
import { parseModel } from './lsa-file.js'
import type { EmbedReply, EmbedRequest } from './lsa-messages.js'

/** Documents are embedded in slices of this duration, so that a query never waits longer. */
const SLICE_MS = 1

interface DocumentJob {
  id: number
  space: LsaSpace
  texts: string[]
  next: number
  vectors: Float32Array
  known: Uint8Array
  seen: number
  hits: number
}

const spaces = new Map<string, LsaSpace>()
const jobs: DocumentJob[] = []

function reply(message: EmbedReply, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}

function startJob(id: number, space: LsaSpace, texts: string[]): DocumentJob {
  const { dimension } = space.model
  const vectors = new Float32Array(texts.length * dimension)
  return { id, space, texts, next: 0, vectors, known: new Uint8Array(texts.length), seen: 0, hits: 0 }
}

function embedNext(job: DocumentJob, terms: string[]): void {
  const { space, next } = job
  job.seen += terms.length
  const vector = embedTerms(space, terms, (known) => {
    job.hits += known
  })
  if (vector !== undefined) {
    job.vectors.set(vector, next * space.model.dimension)
    job.known[next] = 1
  }
  job.next++
}

function finish(job: DocumentJob): void {
  const { id, vectors, known } = job
  const hitRate = job.seen === 0 ? 1 : job.hits / job.seen
  const { buffer } = vectors
  reply(
    { id, type: 'vectors', dimension: job.space.model.dimension, vectors, known, hitRate },
    buffer instanceof ArrayBuffer ? [buffer] : [],
  )
}

function documentTerms(text: string): string[] {
  const terms: string[] = []
  forEachTerm(text, (term) => terms.push(term))
  return terms
}

/** Runs one slice of the oldest job; messages that arrived meanwhile are handled before the next slice. */
function work(): void {
  const until = performance.now() + SLICE_MS
  for (let job = jobs[0]; job !== undefined && performance.now() < until; job = jobs[0]) {
    if (job.next < job.texts.length) {
      embedNext(job, documentTerms(job.texts[job.next] ?? ''))
    } else {
      jobs.shift()
      finish(job)
    }
  }
  if (jobs.length > 0) setImmediate(work)
}

function embed(space: LsaSpace, request: EmbedRequest & { type: 'embed' }): void {
  const job = startJob(request.id, space, request.texts)
  const { purpose, texts } = request
  if (purpose !== 'document') {
    for (const text of texts) embedNext(job, purpose === 'terms' ? text.split(' ') : analyzeQuery(text))
    finish(job)
    return
  }
  jobs.push(job)
  if (jobs.length === 1) setImmediate(work)
}

function answer(request: EmbedRequest): void {
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
  if (request.type === 'embed') embed(space, request)
  else
    reply({ id: request.id, type: 'idf', values: Float64Array.from(request.terms, (t) => inverseFrequency(space, t)) })
}

parentPort?.on('message', (request: EmbedRequest) => {
  try {
    answer(request)
  } catch (error) {
    if (request.type === 'unload') throw error
    reply({ id: request.id, type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
})
