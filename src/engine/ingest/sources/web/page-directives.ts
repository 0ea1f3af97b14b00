import { USER_AGENT } from '../../../models/index.js'

/** `<meta http-equiv="refresh">`: another page replaces this one. */
export interface Refresh {
  url: URL
  seconds: number
}

/** Directives of a page for crawlers, in `<meta name="robots">` or the header `X-Robots-Tag`. */
export interface RobotsDirectives {
  mayIndex: boolean
  mayFollow: boolean
}

/** Characters of a value that are parsed; longer ones are not meant for crawlers. */
const MAX_VALUE_LENGTH = 4096
const REFRESH = /^\s*(\d{1,9})?(?:\.[\d.]*)?\s*(?:[;,]|\s)\s*(?:url\s*=(?!=)\s*)?(.*)/is

/** Parses the value of a refresh (HTML, 4.2.5.3); one without an address reloads the page. */
export function parseRefresh(content: string, base: URL): Refresh | undefined {
  const [, seconds = '0', rest = ''] = REFRESH.exec(content.slice(0, MAX_VALUE_LENGTH)) ?? []
  const [, , quoted] = /^(["'])([^"']*)/.exec(rest) ?? []
  const address = (quoted ?? rest).trim()
  if (address === '' || !URL.canParse(address, base.href)) return undefined
  return { url: new URL(address, base), seconds: Number(seconds) }
}

/** Parses the directives for this crawler. @param value of `X-Robots-Tag`, or of `meta` elements, joined by commas */
export function parseRobotsDirectives(value: string): RobotsDirectives {
  let isForUs = true
  const directives = new Set<string>()
  for (const part of value.toLowerCase().slice(0, MAX_VALUE_LENGTH).split(',')) {
    const [, agent, directive = ''] = /^\s*(?:([a-z_-]+)\s*:)?\s*(.*?)\s*$/s.exec(part) ?? []
    // `max-snippet: 20` is a directive, not an agent
    if (agent !== undefined && !/^(?:max-|unavailable_after)/.test(agent)) isForUs = agent === USER_AGENT.toLowerCase()
    if (isForUs) directives.add(directive)
  }
  return {
    mayIndex: !directives.has('noindex') && !directives.has('none'),
    mayFollow: !directives.has('nofollow') && !directives.has('none'),
  }
}
