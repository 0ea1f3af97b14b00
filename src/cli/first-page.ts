/** Commands of the first week, on the first page of help with their summaries. */
export const FIRST_COMMANDS = [
  'quickstart',
  'ingest',
  'query',
  'search',
  'docs',
  'fs',
  'watch',
  'console',
  'doctor',
  'help',
] as const

/** All other commands by topic. */
export const TOPIC_GROUPS: readonly [string, string][] = [
  ['content', 'spaces, sources, jobs, read, graph, conflicts'],
  ['answers', 'why, traces, research, failed, golden'],
  ['safety', 'backup, restore, bundle, fsck, gc'],
  ['service', 'daemon, models, config, context, auth, top'],
  ['tools', 'mcp, api, completion, alias, uninstall'],
]
