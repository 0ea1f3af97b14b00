import { parseServerAddress } from './configured.js'
import type { DetectedServer } from './detect.js'
import { LOCAL_SERVERS } from './presets.js'

/** The servers to query: the given ones, or the default ports of known servers. */
export function toCandidates({ server, provider }: { server?: string[] | undefined; provider?: string | undefined }) {
  if (server === undefined) return LOCAL_SERVERS
  return server.map((text) => {
    const url = parseServerAddress(text)
    return { url, provider: provider ?? new URL(url).hostname.replace(/[^a-z0-9.-]+/gi, '') }
  })
}

/** Gives servers of one kind distinct provider names. */
export function makeNamesUnique(servers: readonly DetectedServer[]): DetectedServer[] {
  const taken = new Set<string>()
  return servers.map((server) => {
    let provider = server.provider
    for (let suffix = 2; taken.has(provider); suffix++) provider = `${server.provider}-${suffix}`
    taken.add(provider)
    return { ...server, provider }
  })
}

/** The setting of a provider for a detected server. */
export function toProvider({ provider, baseUrl, models }: DetectedServer) {
  const windows = models.flatMap(({ name, contextTokens }): [string, number][] =>
    contextTokens === undefined || contextTokens < 1024 ? [] : [[name, contextTokens]],
  )
  return { provider, baseUrl, ...(windows.length === 0 ? {} : { contextTokens: Object.fromEntries(windows) }) }
}
