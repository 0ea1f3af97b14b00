/** The head that a query reads, whatever is published meanwhile. */
export interface Snapshot {
  publicationId: string
  fingerprint: string
  headRevision: number
  projectionVersion: number
}
