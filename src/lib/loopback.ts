import { isIP } from 'node:net'

/** Whether an IP address is a loopback address. @param host without brackets or port; not a host name */
export function isLoopbackAddress(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
