/** The head that a query reads, whatever is published meanwhile. */
export interface SpaceSnapshot {
  publicationId: string
  fingerprint: string
  headRevision: number
  projectionVersion: number
}
