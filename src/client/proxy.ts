import type http from 'node:http'
import { BlockList, isIP } from 'node:net'
import { ConnectionError } from './errors.js'
import { pointsToThisMachine } from './this-machine.js'

type Env = Readonly<Record<string, string | undefined>>

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Finds the proxy of the environment for a URL: `HTTPS_PROXY` for https, `HTTP_PROXY` for http. The lower-case variable
 * takes precedence. Loopback addresses, this machine and hosts of `NO_PROXY` use no proxy.
 *
 * @throws ConnectionError if the variable holds no HTTP proxy address; the message omits the value, which may hold a
 * password
 */
export function findProxy(target: string, env: Env = process.env): URL | undefined {
  const { protocol } = new URL(target)
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const value = readVariable(env, name)
  if (value === '' || pointsToThisMachine(target) || isExempt(new URL(target), readVariable(env, 'NO_PROXY')))
    return undefined
  // As in curl: a proxy without a scheme is contacted by plain HTTP, whatever the scheme of the target.
  const address = value.includes('://') ? value : `http://${value}`
  const proxy = URL.canParse(address) ? new URL(address) : undefined
  if (proxy === undefined || !['http:', 'https:'].includes(proxy.protocol) || proxy.hostname === '') {
    throw new ConnectionError('unreachable', `${name} is not the address of an HTTP proxy, such as http://proxy:3128`)
  }
  return proxy
}

function readVariable(env: Env, name: string): string {
  return (env[name.toLowerCase()] || env[name] || '').trim()
}

/**
 * Whether `NO_PROXY` exempts a host: by its name or a parent domain, with or without a port; by a network; or by `*`.
 */
function isExempt(target: URL, noProxy: string): boolean {
  const host = normalizeHost(target.hostname)
  const port = target.port || DEFAULT_PORTS[target.protocol]
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      const [, entryHost = entry, entryPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? []
      if (entryPort !== undefined && entryPort !== port) return false
      const domain = normalizeHost(entryHost).replace(/^\*?\./, '')
      return host === domain || (isIP(host) === 0 ? host.endsWith(`.${domain}`) : isInNetwork(host, domain))
    })
}

function normalizeHost(host: string): string {
  return host.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function isInNetwork(host: string, network: string): boolean {
  const [, address = '', bits] = /^(.+)\/(\d+)$/.exec(network) ?? []
  const family = isIP(address)
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return false
  const toFamilyName = (version: number) => (version === 6 ? 'ipv6' : 'ipv4')
  const list = new BlockList()
  list.addSubnet(address, Number(bits), toFamilyName(family))
  return list.check(host, toFamilyName(isIP(host)))
}

/**
 * Creates a connection pool through a proxy.
 *
 * @param isTunnel whether it uses tunnels (`CONNECT`), for https; otherwise it sends absolute URLs, for http
 */
export async function createProxyAgent(
  proxy: URL,
  { isTunnel, options }: { isTunnel: boolean; options: http.AgentOptions },
): Promise<http.Agent> {
  // Credentials are sent in the header only: with `DEBUG` set the agents print the proxy's address.
  const { username, password } = proxy
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  const headers = username === '' && password === '' ? {} : { 'Proxy-Authorization': authorization }
  if (isTunnel) {
    const { HttpsProxyAgent } = await import('https-proxy-agent')
    return new HttpsProxyAgent(proxy.origin, { ...options, headers })
  }
  const { HttpProxyAgent } = await import('http-proxy-agent')
  return new HttpProxyAgent(proxy.origin, { ...options, headers })
}
