import { parentPort } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { LocatedPassage } from '../rows/conflicts.js'
import { ClaimIndex } from './claim-index.js'
import { extractClaims, type ParsedPassage, packClaims, readPassage, unpackClaims } from './claims.js'
import { compareClaims, isCopy } from './compare-claims.js'
import { type ClaimReply, type ClaimRequest, type FoundDisagreement, toPassageKey } from './messages.js'

/** Entry of the thread that reads and compares claims, of one space at a time. */

/** Maximum cached parsed passages: those of the current version, and those that are compared often. */
const MAX_CACHED_PASSAGES = 1000

let index = new ClaimIndex()
const passages = new LRUCache<string, ParsedPassage>({ max: MAX_CACHED_PASSAGES })

function parsePassage(passage: LocatedPassage): ParsedPassage {
  const cached = passages.get(toPassageKey(passage))
  if (cached !== undefined) return cached
  const parsed = readPassage(passage)
  passages.set(toPassageKey(passage), parsed)
  return parsed
}

function comparePairs({ candidates, passages: given }: Extract<ClaimRequest, { type: 'compare' }>): ClaimReply {
  const texts = new Map(given.map((passage) => [toPassageKey(passage), passage]))
  const found: FoundDisagreement[] = []
  const copied: number[] = []
  for (const candidate of candidates) {
    const [left, right] = [candidate.one, candidate.other].map((location) => texts.get(toPassageKey(location)))
    if (left === undefined || right === undefined) continue
    const one = { passage: parsePassage(left), index: candidate.one.index }
    const other = { passage: parsePassage(right), index: candidate.other.index }
    const disagreement = compareClaims(one, other)
    if (disagreement !== undefined) found.push({ ...candidate, ...disagreement })
    else if (isCopy(one, other)) copied.push(candidate.other.version)
  }
  return { type: 'compared', found, copied }
}

function handleRequest(request: ClaimRequest): ClaimReply {
  switch (request.type) {
    case 'read': {
      const claims = request.passages.map((passage) => ({
        ordinal: passage.ordinal,
        claims: extractClaims(parsePassage(passage)),
      }))
      return { type: 'claims', claims: packClaims(claims) }
    }
    case 'open':
      index = new ClaimIndex()
      passages.clear()
      return { type: 'done' }
    case 'add':
      for (const { version, document, claims } of request.versions) index.add(version, document, unpackClaims(claims))
      return { type: 'done' }
    case 'match': {
      const { version, document } = request.version
      const claims = unpackClaims(request.version.claims)
      const candidates = index.candidates(version, document, claims.slice(request.from, request.to))
      return { type: 'candidates', candidates, claims: claims.length }
    }
    case 'compare':
      return comparePairs(request)
    default:
      return request satisfies never
  }
}

parentPort?.on('message', (request: ClaimRequest) => {
  let reply: ClaimReply
  try {
    reply = handleRequest(request)
  } catch (error) {
    reply = { type: 'failed', message: String(error) }
  }
  parentPort?.postMessage(reply)
})
