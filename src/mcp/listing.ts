import type { Tool } from '@modelcontextprotocol/server'
import { allTools } from './tools/all.js'

/** A tool as clients see it, and who may. */
export interface ListedTool {
  tool: Tool
  /** needs a token that may write */
  writes: boolean
  /** needs the files of this machine */
  isLocal: boolean
}

/** All tools there are. Programs that are bundled hold this ready made: their build calls it (`scripts/tools-as-data.js`). */
export async function listedTools(): Promise<readonly ListedTool[]> {
  return (await allTools()).map(({ writes, isLocal, describe }) => ({ writes, isLocal, tool: describe() }))
}
