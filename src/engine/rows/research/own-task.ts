/** Identifies a research task of a tenant. */
export interface OwnTask {
  tenant: string
  id: string
}
