interface Resolved {
  address: string
  family: number
}

/** Looks up all addresses of a host name. */
export type Resolve = (name: string, done: (error: Error | null, addresses: Resolved[]) => void) => void
