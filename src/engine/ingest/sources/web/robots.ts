/** The rules of a robots.txt for this crawler (RFC 9309). */
export interface RobotsRules {
  allows(url: URL): boolean
  sitemaps: string[]
  /** requested delay between two requests (not in the standard, but widely used); 0 for none */
  delayMs: number
}

interface RobotsRule {
  allow: boolean
  /** normalized by `normalizePath`; a longer path is more specific */
  path: string
}

interface RobotsGroup {
  agents: string[]
  rules: RobotsRule[]
  delaySeconds: number
  /** a user-agent line after this starts another group */
  isFull: boolean
}

/** Larger files are truncated at the end of a line; the standard requires at least 500 KiB. */
export const ROBOTS_BYTES = 512 * 1024
/** A site may slow a crawl down, but not stop it. */
const MAX_DELAY_SECONDS = 10

export const ALLOW_ALL: RobotsRules = { allows: () => true, sitemaps: [], delayMs: 0 }

/** Parses a robots.txt for one crawler; the most specific group with its name applies, otherwise the group for all. */
export function parseRobots(text: string, agent: string): RobotsRules {
  const { groups, sitemaps } = parseGroups(text)
  const namedGroups = groups.filter(({ agents }) => agents.includes(agent))
  const selectedGroups = namedGroups.length > 0 ? namedGroups : groups.filter(({ agents }) => agents.includes('*'))
  const decide = compileRules(selectedGroups.flatMap((group) => group.rules))
  const delaySeconds = selectedGroups.reduce((maxSeconds, group) => Math.max(maxSeconds, group.delaySeconds), 0)
  return {
    allows: (url) => url.pathname === '/robots.txt' || decide(normalizePath(url.pathname + url.search, false)),
    sitemaps,
    delayMs: Math.min(delaySeconds, MAX_DELAY_SECONDS) * 1000,
  }
}

function parseGroups(text: string): { groups: RobotsGroup[]; sitemaps: string[] } {
  const groups: RobotsGroup[] = []
  const sitemaps: string[] = []
  let current: RobotsGroup | undefined
  for (const line of text.split(/\r\n|\r|\n/)) {
    const clean = line.replace(/#.*/, '')
    const colon = clean.indexOf(':')
    if (colon === -1) continue
    const name = clean.slice(0, colon).trim().toLowerCase()
    const value = clean.slice(colon + 1).trim()
    if (name === 'sitemap') sitemaps.push(value)
    else if (name === 'user-agent') {
      // consecutive agents share the rules after them
      if (current === undefined || current.isFull) {
        current = { agents: [], rules: [], delaySeconds: 0, isFull: false }
        groups.push(current)
      }
      // the product token, without a version or anything else after it (RFC 9309, 2.2.1)
      current.agents.push(/^(?:\*|[a-z_-]+)/.exec(value.toLowerCase())?.[0] ?? value)
    } else if (current !== undefined) addDirective(current, name, value)
  }
  return { groups, sitemaps }
}

function addDirective(group: RobotsGroup, name: string, value: string): void {
  if (name === 'allow' || name === 'disallow') {
    group.isFull = true
    if (value !== '') group.rules.push({ allow: name === 'allow', path: normalizePath(value, true) })
  } else if (name === 'crawl-delay') {
    // not in the standard, so it does not end the list of agents either (2.2.4)
    const seconds = Number(value)
    if (seconds > 0) group.delaySeconds = seconds
  }
}

/** The longest matching rule decides; of two with equal length the allowing one. */
function outranks(one: RobotsRule, other: RobotsRule | undefined): boolean {
  if (other === undefined || one.path.length !== other.path.length) return one.path.length > (other?.path.length ?? -1)
  return one.allow && !other.allow
}

/**
 * Compiles rules to a function of a path. Plain prefixes, which most rules are, cost one binary search together; those
 * with `*` or `$` are tried from the most specific one on, each in time linear in the path.
 */
function compileRules(rules: readonly RobotsRule[]): (path: string) => boolean {
  const isWild = ({ path }: RobotsRule) => path.includes('*') || path.endsWith('$')
  const longestPrefix = compilePrefixes(rules.filter((rule) => !isWild(rule)))
  const wild = rules
    .filter(isWild)
    .map((rule) => ({ rule, matches: compileWildcardRule(rule.path) }))
    .sort((one, other) => (outranks(one.rule, other.rule) ? -1 : outranks(other.rule, one.rule) ? 1 : 0))
  return (path) => {
    const plain = longestPrefix(path)
    for (const { rule, matches } of wild) {
      if (!outranks(rule, plain)) break
      if (matches(path)) return rule.allow
    }
    return plain?.allow ?? true
  }
}

interface PrefixNode {
  path: string
  /** the longest other rule that is a prefix of this one */
  parent: PrefixNode | undefined
  /** the rule that decides where this path is the longest match */
  best: RobotsRule
}

/** @returns a function that finds the deciding rule of a path, for prefix rules */
function compilePrefixes(rules: readonly RobotsRule[]): (path: string) => RobotsRule | undefined {
  const nodes: PrefixNode[] = []
  for (const rule of [...rules].sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0))) {
    let parent: PrefixNode | undefined = nodes.at(-1)
    if (parent?.path === rule.path) {
      if (outranks(rule, parent.best)) parent.best = rule
      continue
    }
    while (parent !== undefined && !rule.path.startsWith(parent.path)) parent = parent.parent
    nodes.push({ path: rule.path, parent, best: rule })
  }
  return (path) => {
    let low = 0
    let high = nodes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((nodes[middle]?.path ?? '') <= path) low = middle + 1
      else high = middle
    }
    // everything between a prefix of the path and the path starts with that prefix too
    let node: PrefixNode | undefined = nodes[low - 1]
    while (node !== undefined && !path.startsWith(node.path)) node = node.parent
    return node?.best
  }
}

/** Compiles a rule in which `*` matches anything and a final `$` the end. Linear in the path for any rule. */
function compileWildcardRule(rule: string): (path: string) => boolean {
  const anchored = rule.endsWith('$')
  const parts = (anchored ? rule.slice(0, -1) : rule).split('*')
  const first = parts.shift() ?? ''
  const isExact = anchored && parts.length === 0
  const last = anchored ? (parts.pop() ?? '') : ''
  const inner = parts.filter((part) => part !== '')
  return (path) => {
    if (!path.startsWith(first)) return false
    if (isExact) return path === first
    let offset = first.length
    for (const part of inner) {
      const found = path.indexOf(part, offset)
      if (found === -1) return false
      offset = found + part.length
    }
    return !anchored || (path.length - last.length >= offset && path.endsWith(last))
  }
}

/** Characters that are not part of an address, and escapes of those that are. */
const NOT_NORMAL = /%[0-9a-f]{2}|[^!#$&-;=?@A-Z[\]_a-z~\p{Surrogate}]/giu

/**
 * Normalizes a path or a rule for comparison (RFC 9309, 2.2.2): characters that are not part of an address are
 * percent-encoded, in capitals, and unreserved ones are not. So `%7e` is `~`, `ü` is `%C3%BC`, and `%2F` is not `/`.
 * Rules write the characters `*` and `$` as `%2A` and `%24`, so paths do, too.
 */
function normalizePath(text: string, isRule: boolean): string {
  const escaped = text.replace(NOT_NORMAL, (found) => {
    if (found.length !== 3) return encodeURIComponent(found)
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : found.toUpperCase()
  })
  if (isRule) return escaped.replace(/\$(?!$)/g, '%24')
  return escaped.replaceAll('*', '%2A').replaceAll('$', '%24')
}
