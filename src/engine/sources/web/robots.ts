/** What a robots.txt says to us (RFC 9309). */
export interface Robots {
  allows(url: URL): boolean
  sitemaps: string[]
}

interface Rule {
  allow: boolean
  path: string
}

interface Group {
  agents: string[]
  rules: Rule[]
}

/** Larger files are cut; the standard asks for at least 500 KiB. */
export const ROBOTS_BYTES = 512 * 1024
/** Rules beyond these are not read: every one is tried on every page. */
const MAX_RULES = 2000

export const ALLOW_ALL: Robots = { allows: () => true, sitemaps: [] }

/** Reads a robots.txt for one crawler; the most specific group that names it counts, else the one for all. */
export function parseRobots(text: string, agent: string): Robots {
  const { groups, sitemaps } = readGroups(text)
  const named = groups.filter(({ agents }) => agents.includes(agent))
  const chosen = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes('*'))
  const rules = chosen.flatMap((group) => group.rules).slice(0, MAX_RULES)
  return { allows: (url) => allows(rules, url.pathname + url.search), sitemaps }
}

function readGroups(text: string): { groups: Group[]; sitemaps: string[] } {
  const groups: Group[] = []
  const sitemaps: string[] = []
  let current: Group | undefined
  for (const line of text.split(/\r\n|\r|\n/)) {
    const clean = line.replace(/#.*/, '')
    const colon = clean.indexOf(':')
    if (colon === -1) continue
    const name = clean.slice(0, colon).trim().toLowerCase()
    const value = clean.slice(colon + 1).trim()
    if (name === 'sitemap') sitemaps.push(value)
    else if (name === 'user-agent') {
      // agents in a row share the rules that follow them
      if (current === undefined || current.rules.length > 0) {
        current = { agents: [], rules: [] }
        groups.push(current)
      }
      current.agents.push(value.toLowerCase())
    } else if ((name === 'allow' || name === 'disallow') && current !== undefined)
      current.rules.push({ allow: name === 'allow', path: value })
  }
  return { groups, sitemaps }
}

/** The longest rule that matches decides; of two of one length the one that allows. */
function allows(rules: readonly Rule[], path: string): boolean {
  let best: Rule | undefined
  for (const rule of rules) {
    if (rule.path === '' || !matches(decoded(rule.path), decoded(path))) continue
    const longer = best === undefined || rule.path.length > best.path.length
    if (longer || (rule.allow && rule.path.length === best?.path.length)) best = rule
  }
  return best?.allow ?? true
}

/** A rule is a prefix in which `*` stands for anything and a `$` at the end for the end. Linear, whatever the rule. */
function matches(rule: string, path: string): boolean {
  const anchored = rule.endsWith('$')
  const parts = (anchored ? rule.slice(0, -1) : rule).split('*')
  const first = parts.shift() ?? ''
  if (!path.startsWith(first)) return false
  if (parts.length === 0) return !anchored || path === first
  const last = anchored ? (parts.pop() ?? '') : ''
  let at = first.length
  for (const part of parts) {
    const found = path.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return !anchored || (path.length - last.length >= at && path.endsWith(last))
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
