interface Resolved {
  address: string
  family: number
}

/** All addresses of a name. */
export type Resolve = (name: string, done: (error: Error | null, addresses: Resolved[]) => void) => void
