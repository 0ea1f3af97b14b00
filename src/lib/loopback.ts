import { isIP } from 'node:net'

/** Whether an address reaches only the machine that it is used on. @param host without brackets or port; no name */
export function isLoopbackAddress(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
