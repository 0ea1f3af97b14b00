import type { Tool } from '@modelcontextprotocol/server'
import { loadAllTools } from './tools/all.js'

/** A tool as clients see it, with its requirements. */
export interface ListedTool {
  tool: Tool
  /** Requires a token with write permission. */
  writes: boolean
  /** Requires the files of this machine. */
  isLocal: boolean
}

/** All tools. Bundled programs contain this list precomputed by their build (`scripts/tools-as-data.js`). */
export async function listTools(): Promise<readonly ListedTool[]> {
  return (await loadAllTools()).map(({ writes, isLocal, describe }) => ({ writes, isLocal, tool: describe() }))
}
