import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Identifies the client of a request for limits: its address, or the network of an IPv6 client. */
export type ClientAddress = (incoming: IncomingMessage | undefined) => string

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** Clients of a socket file and requests from inside the process have no address. */
const LOCAL_ADDRESS = 'local'
/** Number of 16-bit groups in the network of one IPv6 client: a /64. */
const NETWORK_GROUPS = 4

/**
 * Only the part of `X-Forwarded-For` that trusted proxies wrote counts: the last address that is not a trusted proxy is
 * the client. Everything before it is text from the client.
 *
 * @param trusted addresses and CIDR ranges of reverse proxies
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const ranges = trusted.map((entry) => (entry.includes('/') ? entry : `${entry}/${isIP(entry) === 4 ? 32 : 128}`))
  const proxies = ranges.map((range) => ipaddr.parseCIDR(range))
  const isTrusted = (address: IpAddress) =>
    proxies.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits))
  return (incoming) => {
    let client = parseAddress(incoming?.socket.remoteAddress ?? '')
    const hops = [incoming?.headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
    while (client !== undefined && isTrusted(client)) {
      const hop = parseAddress(hops.pop() ?? '')
      if (hop === undefined) break
      client = hop
    }
    return client === undefined ? LOCAL_ADDRESS : toNetwork(client)
  }
}

/** Some proxies write an address with a port. An IPv4 address in IPv6 notation is treated as IPv4. */
function parseAddress(text: string): IpAddress | undefined {
  const trimmed = text.trim().replace(/%.*$/, '')
  const bare = /^\[(.*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare)
}

function toNetwork(address: IpAddress): string {
  if (address instanceof ipaddr.IPv4) return address.toString()
  const network = address.parts.slice(0, NETWORK_GROUPS)
  return network.map((group) => group.toString(16)).join(':')
}
