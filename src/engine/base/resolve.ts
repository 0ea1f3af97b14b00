interface HostAddress {
  address: string
  family: number
}

/** Looks up all addresses of a host name. */
export type HostResolver = (name: string, done: (error: Error | null, addresses: HostAddress[]) => void) => void
