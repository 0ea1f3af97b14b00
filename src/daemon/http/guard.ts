import type { IncomingMessage } from 'node:http'
import { KsError } from '../../contract/errors.js'
import { quoteClipped } from '../../contract/issues.js'
import { isLoopbackAddress } from '../../lib/loopback.js'

/** Where a request arrived; absent for a request made inside the process. */
export type RequestListenerInfo = { kind: 'tcp'; loopback: boolean; secure: boolean } | { kind: 'socket' }

export interface GuardOptions {
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
}

const LOOPBACK_NAMES = ['127.0.0.1', '[::1]', 'localhost']

/**
 * Loopback does not protect against browsers: a page of any site can reach it, and by DNS rebinding under its own name.
 * Therefore the Host must be one of this daemon's names, and requests caused by a foreign page are rejected.
 */
export interface HostGuard {
  /**
   * Checks host and origin.
   * @returns the allowed foreign origin of the request, which may read the response
   * @throws KsError `host-refused`
   */
  check(headers: Headers, target: string, listener: RequestListenerInfo | undefined): string | undefined
  /**
   * Checks only the host, for any sender.
   * @throws KsError `host-refused`
   */
  checkHost(headers: Headers, target: string, listener: RequestListenerInfo | undefined): void
}

export function createGuard(options: GuardOptions): HostGuard {
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()))

  const isHostAccepted = (host: string, listener: RequestListenerInfo): boolean => {
    if (listener.kind === 'socket') return true // Only local processes with access to the file can connect.
    const name = host.toLowerCase()
    if (hosts.has(name) || hosts.has(name.replace(/:\d+$/, ''))) return true
    if (!listener.loopback) return hosts.size === 0
    // Any port is accepted: it may be forwarded, and a page of another site cannot choose the name.
    return LOOPBACK_NAMES.includes(name.replace(/:\d+$/, ''))
  }

  const checkHost: HostGuard['checkHost'] = (headers, target, listener) => {
    if (listener === undefined) return
    const host = headers.get('host') ?? ''
    if (!isHostAccepted(host, listener)) throw createHostRejected(host)
    // A target in absolute form has its own host, which overrides the header (RFC 9112, 3.2.2).
    if (!target.startsWith('/') && !isHostAccepted(getAuthority(target), listener))
      throw createHostRejected(getAuthority(target))
  }

  return {
    check: (headers, target, listener) => {
      checkHost(headers, target, listener)
      return listener === undefined ? undefined : checkOrigin(headers, listener, origins)
    },
    checkHost,
  }
}

function checkOrigin(
  headers: Headers,
  listener: RequestListenerInfo,
  origins: ReadonlySet<string>,
): string | undefined {
  const host = headers.get('host') ?? ''
  const origin = headers.get('origin')
  if (origin !== null && origins.has(origin.toLowerCase())) return origin
  const scheme = listener.kind === 'tcp' && listener.secure ? 'https' : 'http'
  if (origin !== null && origin.toLowerCase() !== `${scheme}://${host.toLowerCase()}`)
    throw new KsError('host-refused', `requests from the origin ${quoteClipped(origin)} are not accepted here`)
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'none' && site !== 'same-origin')
    throw new KsError('host-refused', `requests caused by another site (${quoteClipped(site)}) are not accepted here`)
  return undefined
}

/** The first of some headers that occurs twice. Node silently keeps one of them. */
export function findRepeatedHeader(incoming: IncomingMessage, names: ReadonlySet<string>): string | undefined {
  const seen = new Set<string>()
  const raw = incoming.rawHeaders
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? ''
    if (!names.has(name)) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** Whether a listen address can only be reached from this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || isLoopbackAddress(bare)
}

function getAuthority(target: string): string {
  return URL.canParse(target) ? new URL(target).host : target
}

function createHostRejected(host: string): KsError {
  return new KsError('host-refused', `the host ${quoteClipped(host)} is not one of this daemon's names`)
}
