import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findDataFolder } from '../datasets.js'
import { createRandom, drawWord, makeQuery } from '../words.js'

/** The same documents, vectors and queries for every engine: each process makes them from the seed. */

export const DIMENSION = 384
export const BATCH = 500
const CLUSTERS = 500
/** Spread of a vector around its cluster, in units of the centre's own spread. */
const NOISE = 0.8
/** A query lies near a document, as a question near its answer. */
const QUERY_NOISE = 0.3
const WORDS_PER_DOCUMENT = 95
const TITLE_WORDS = 5
const SEED = 384

export interface BenchDocument {
  key: number
  title: string
  text: string
  vector: Float32Array
}

export interface BenchQuery {
  text: string
  vector: Float32Array
}

export interface Workload {
  documents: BenchDocument[]
  queries: BenchQuery[]
}

/** @param count documents; @param queries queries, each made from a document of its own */
export function makeWorkload(count: number, queries: number): Workload {
  const random = createRandom(SEED)
  const word = createWordSource(random)
  const centres = Array.from({ length: CLUSTERS }, () => makeGaussianVector(random))
  const documents = Array.from({ length: count }, (_, index): BenchDocument => {
    const text = Array.from({ length: WORDS_PER_DOCUMENT }, word).join(' ')
    const title = Array.from({ length: TITLE_WORDS }, word).join(' ')
    return { key: index + 1, title, text, vector: makeNearbyVector(centres[index % CLUSTERS]!, NOISE, random) }
  })
  const step = Math.max(1, Math.floor(count / queries))
  const benchQueries = Array.from({ length: queries }, (_, index): BenchQuery => {
    const document = documents[(index * step) % count]!
    const scaled = document.vector.map((value) => value * Math.sqrt(DIMENSION))
    return { text: makeQuery(random, document.text), vector: makeNearbyVector(scaled, QUERY_NOISE, random) }
  })
  return { documents, queries: benchQueries }
}

/** The `k` documents with the nearest vectors, by comparing all. */
export function findNearestKeys(documents: readonly BenchDocument[], query: Float32Array, k: number): number[] {
  return documents
    .map(({ key, vector }) => {
      let score = 0
      for (let i = 0; i < query.length; i++) score += vector[i]! * query[i]!
      return { key, score }
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, k)
    .map(({ key }) => key)
}

/** Words at the frequencies of real abstracts where the shared sets are, else by Zipf's law. */
function createWordSource(random: () => number): () => string {
  const folder = findDataFolder()
  const path = folder === undefined ? '' : join(folder, 'scifact', 'corpus.jsonl')
  if (!existsSync(path)) return () => drawWord(random)
  const words: string[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line !== '') words.push(...(String(JSON.parse(line).text).match(/[\p{L}\p{N}]+/gu) ?? []))
  }
  return () => words[Math.floor(random() * words.length)]!
}

function makeGaussianVector(random: () => number): Float32Array {
  return Float32Array.from({ length: DIMENSION }, () => drawNormal(random))
}

/** Box-Muller. */
function drawNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())
}

function makeNearbyVector(centre: Float32Array, noise: number, random: () => number): Float32Array {
  const moved = centre.map((value) => value + noise * drawNormal(random))
  let square = 0
  for (const value of moved) square += value * value
  const length = Math.sqrt(square)
  return moved.map((value) => value / length)
}
