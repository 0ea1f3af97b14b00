/** Prefixes under which nothing is revealed without a token, not even whether a route exists. */
export const GUARDED_PREFIXES: readonly string[] = [
  'knowledge-spaces',
  'queries',
  'jobs',
  'research-tasks',
  'agent-workspace-snapshots',
  'bulk-jobs',
  'retention-policy',
  'daemon',
  'metrics',
  'chat-apps',
  'mcp',
  'changes',
]

const MAX_DECODES = 3

/**
 * Whether a path is under a guarded prefix in any spelling: percent-encoded (also twice), with empty or dot segments,
 * backslashes, path parameters or capitals. Only used for paths without a route; a route defines itself whether it
 * needs a token.
 */
export function isGuardedPath(path: string): boolean {
  const segments: string[] = []
  for (const raw of decodePath(path)
    .replace(/\p{Cc}/gu, '')
    .replaceAll('\\', '/')
    .split('/')) {
    const segment = raw.replace(/[;?#].*$/, '').trim()
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment.toLowerCase())
  }
  return GUARDED_PREFIXES.includes(segments[0] ?? '')
}

function decodePath(path: string): string {
  let decoded = path
  for (let round = 0; round < MAX_DECODES && decoded.includes('%'); round++) {
    try {
      decoded = decodeURIComponent(decoded)
    } catch {
      return decoded
    }
  }
  return decoded
}
