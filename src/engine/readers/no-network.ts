import dgram from 'node:dgram'
import dns from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

/**
 * Disables the network of this process: opening a connection, sending a datagram and resolving a name throw. Messages
 * to the parent use an inherited pipe and still work.
 */
export function disableNetwork(): void {
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
  // Named imports of built-in modules change only with this call.
  syncBuiltinESMExports()
}
