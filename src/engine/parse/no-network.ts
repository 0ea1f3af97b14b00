import dgram from 'node:dgram'
import dns from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

/**
 * Takes the network from this process: every way to open a connection, send a datagram or look a name up throws.
 * Messages to the parent go over an inherited pipe and are not touched.
 */
export function switchOffNetwork(): void {
  const refuse = (): never => {
    throw new Error('the reading process has no network')
  }
  const targets: readonly (readonly [object, readonly string[]])[] = [
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [net, ['connect', 'createConnection']],
    [http, ['request', 'get']],
    [https, ['request', 'get']],
    [dgram.Socket.prototype, ['bind', 'send', 'connect']],
    [dns, ['Resolver', 'lookup', 'resolve', 'resolve4', 'resolve6', 'reverse']],
    [dns.promises, ['Resolver', 'lookup', 'resolve', 'resolve4', 'resolve6', 'reverse']],
    [globalThis, ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']],
  ]
  for (const [target, names] of targets) {
    for (const name of names)
      Object.defineProperty(target, name, { value: refuse, configurable: false, writable: false })
  }
  // Named imports of built-in modules follow only when told.
  syncBuiltinESMExports()
}
