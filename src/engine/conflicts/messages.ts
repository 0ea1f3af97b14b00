import type { NamedPassage } from '../rows/conflicts.js'
import type { Candidate } from './claim-index.js'
import type { Disagreement } from './compare-claims.js'

/** What the thread that compares claims and its owner say to each other; each request has one reply. */

export interface ClaimsOfVersion {
  version: number
  document: number
  /** as `packClaims` makes them */
  claims: Uint8Array
}

/** Two passages that disagree. */
export interface FoundDisagreement extends Candidate, Disagreement {}

export type ClaimRequest =
  /** reads the claims of a few passages of a version */
  | { type: 'read'; passages: NamedPassage[] }
  /** what is known is forgotten: another space follows */
  | { type: 'open' }
  /** versions that were compared before */
  | { type: 'add'; versions: ClaimsOfVersion[] }
  /** candidates for some of a version's claims, from one place to another */
  | { type: 'match'; of: ClaimsOfVersion; from: number; to: number }
  /** compares candidates over the passages that they name */
  | { type: 'compare'; candidates: Candidate[]; passages: NamedPassage[] }

export type ClaimReply =
  | { type: 'claims'; claims: Uint8Array }
  | { type: 'done' }
  | { type: 'candidates'; candidates: Candidate[]; claims: number }
  /** with the versions of sentences that were the same, each time */
  | { type: 'compared'; found: FoundDisagreement[]; copied: number[] }
  | { type: 'failed'; message: string }
