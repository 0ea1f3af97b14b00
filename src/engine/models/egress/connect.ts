import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import type { HostResolver } from '../../base/resolve.js'
import type { AddressRule } from './addresses.js'

/** Error code of a connection that was rejected because of its address. */
export const FORBIDDEN_ADDRESS_CODE = 'KS_ADDRESS_REFUSED'
const resolveBySystem: HostResolver = (name, done) => systemLookup(name, { all: true }, done)

/**
 * Resolves a name once, for the connection itself: the address that was checked is the one that is dialled, however
 * fast DNS changes. One forbidden address rejects the name, since the system would choose among them.
 */
export function createCheckedLookup(mayDial: AddressRule, resolve: HostResolver = resolveBySystem): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error('no address'), [])
      if (!addresses.every(({ address }) => mayDial(address))) return callback(createForbiddenError(), [])
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/**
 * A connector that checks every connection: an address in the URL before dialling (there is no lookup then), and the
 * remote address after connecting.
 */
export function createCheckedConnector(
  connect: buildConnector.connector,
  mayDial: AddressRule,
): buildConnector.connector {
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !mayDial(host)) return callback(createForbiddenError(), null)
    connect(options, (...result) => {
      const [error, socket] = result
      if (error !== null) return callback(error, null)
      if (socket.remoteAddress === undefined || !mayDial(socket.remoteAddress)) {
        socket.destroy()
        return callback(createForbiddenError(), null)
      }
      callback(null, socket)
    })
  }
}

/** The code of a network error; '' without one. */
export function getNetworkErrorCode(error: unknown): string {
  if (error instanceof AggregateError) return getNetworkErrorCode(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function createForbiddenError(): Error {
  return Object.assign(new Error('address refused'), { code: FORBIDDEN_ADDRESS_CODE })
}
