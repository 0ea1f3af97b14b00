import type { LocatedPassage } from '../rows/conflicts.js'
import type { ClaimPair } from './claim-index.js'
import type { ClaimDisagreement } from './compare-claims.js'

/** Messages between the thread that compares claims and its owner; each request has one reply. */

export interface ClaimsOfVersion {
  version: number
  document: number
  /** as from `packClaims` */
  claims: Uint8Array
}

/** Two passages that disagree. */
export interface FoundDisagreement extends ClaimPair, ClaimDisagreement {}

export type ClaimRequest =
  /** reads the claims of a few passages of a version */
  | { type: 'read'; passages: LocatedPassage[] }
  /** clears the index for another space */
  | { type: 'open' }
  /** adds versions that were compared before */
  | { type: 'add'; versions: ClaimsOfVersion[] }
  /** finds candidates for a range of a version's claims */
  | { type: 'match'; version: ClaimsOfVersion; from: number; to: number }
  /** compares candidates, given the passages that they refer to */
  | { type: 'compare'; candidates: ClaimPair[]; passages: LocatedPassage[] }

export type ClaimReply =
  | { type: 'claims'; claims: Uint8Array }
  | { type: 'done' }
  | { type: 'candidates'; candidates: ClaimPair[]; claims: number }
  /** `copied`: versions of equal sentences, once for each */
  | { type: 'compared'; found: FoundDisagreement[]; copied: number[] }
  | { type: 'failed'; message: string }

/** Key of a passage in a map. */
export function toPassageKey({ version, ordinal }: { version: number; ordinal: number }): string {
  return `${version}/${ordinal}`
}
