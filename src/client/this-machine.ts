import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { isLoopbackAddress } from '../lib/loopback.js'

/**
 * Whether a URL points to this machine. A data directory copied from elsewhere must not send requests to another host,
 * nor may another host vouch for a process.
 */
export function pointsToThisMachine(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : ''
  if (isIP(host) === 0) return host === 'localhost' || (host !== '' && host === hostname().toLowerCase())
  const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return isLoopbackAddress(host) || ownAddresses.some(({ address }) => address === host)
}
