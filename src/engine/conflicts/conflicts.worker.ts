import { parentPort } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { ClaimIndex } from './claim-index.js'
import { claimsOf, packClaims, type ReadPassage, readPassage, unpackClaims } from './claims.js'
import { compareClaims } from './compare-claims.js'
import type { ClaimReply, ClaimRequest, FoundDisagreement, NamedPassage } from './messages.js'

/** Entry of the thread that reads and compares claims, of one space at a time. */

/** Passages taken apart that are kept: those of the version in hand, and what many are compared with. */
const PASSAGES = 1000

let index = new ClaimIndex()
const passages = new LRUCache<string, ReadPassage>({ max: PASSAGES })

function nameOf({ version, ordinal }: { version: number; ordinal: number }): string {
  return `${version}/${ordinal}`
}

function read(passage: NamedPassage): ReadPassage {
  const known = passages.get(nameOf(passage))
  if (known !== undefined) return known
  const made = readPassage(passage)
  passages.set(nameOf(passage), made)
  return made
}

function compare({ candidates, passages: given }: Extract<ClaimRequest, { type: 'compare' }>): FoundDisagreement[] {
  const texts = new Map(given.map((passage) => [nameOf(passage), passage]))
  return candidates.flatMap((candidate) => {
    const [one, other] = [candidate.one, candidate.other].map((place) => texts.get(nameOf(place)))
    if (one === undefined || other === undefined) return []
    const found = compareClaims(
      { passage: read(one), place: candidate.one.place },
      { passage: read(other), place: candidate.other.place },
    )
    return found === undefined ? [] : [{ ...candidate, ...found }]
  })
}

function answer(request: ClaimRequest): ClaimReply {
  switch (request.type) {
    case 'read': {
      const claims = request.passages.map((passage) => ({ ordinal: passage.ordinal, claims: claimsOf(read(passage)) }))
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
      const { version, document } = request.of
      const claims = unpackClaims(request.of.claims)
      const candidates = index.candidates(version, document, claims.slice(request.from, request.to))
      return { type: 'candidates', candidates, claims: claims.length }
    }
    case 'compare':
      return { type: 'compared', found: compare(request) }
    default:
      return request satisfies never
  }
}

parentPort?.on('message', (request: ClaimRequest) => {
  let reply: ClaimReply
  try {
    reply = answer(request)
  } catch (error) {
    reply = { type: 'failed', message: String(error) }
  }
  parentPort?.postMessage(reply)
})
