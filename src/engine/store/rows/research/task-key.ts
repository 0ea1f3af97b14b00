/** Identifies a research task of a tenant. */
export interface ResearchTaskKey {
  tenant: string
  id: string
}
