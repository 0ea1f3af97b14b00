import type { ToolDefinition } from '../tool.js'

/**
 * In listing order: the most used first. Each is loaded by its first call: creating all schemas would take longer than
 * the first result of one tool.
 */
const TOOL_LOADERS: ReadonlyMap<string, () => Promise<ToolDefinition>> = new Map([
  ['search', async () => (await import('./search.js')).search],
  ['ask', async () => (await import('./ask.js')).ask],
  ['read', async () => (await import('./read.js')).read],
  ['spaces', async () => (await import('./spaces.js')).spaces],
  ['list', async () => (await import('./browse.js')).list],
  ['tree', async () => (await import('./browse.js')).tree],
  ['find', async () => (await import('./browse.js')).find],
  ['grep', async () => (await import('./browse.js')).grep],
  ['outline', async () => (await import('./outline.js')).outline],
  ['graph', async () => (await import('./graph.js')).graph],
  ['research', async () => (await import('./research.js')).research],
  ['research_status', async () => (await import('./research.js')).researchStatus],
  ['research_cancel', async () => (await import('./research.js')).researchCancel],
  ['write', async () => (await import('./workspace.js')).write],
  ['move', async () => (await import('./workspace.js')).move],
  ['remove', async () => (await import('./workspace.js')).remove],
  ['ingest', async () => (await import('./ingest.js')).ingest],
  ['refresh', async () => (await import('./refresh.js')).refresh],
])

export async function loadTool(name: string): Promise<ToolDefinition | undefined> {
  return TOOL_LOADERS.get(name)?.()
}

export async function loadAllTools(): Promise<ToolDefinition[]> {
  return Promise.all([...TOOL_LOADERS.values()].map((load) => load()))
}
