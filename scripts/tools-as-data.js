/**
 * What tools of MCP there are, with the schemas of what they take and give, is the same in every session and takes 10 ms to
 * put together: bundles hold it as text, which they parse when somebody asks.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './build.js'

const LISTING = join(ROOT, 'dist', 'mcp', 'listing.js')

export const toolsAsData = {
  name: 'tools-as-data',
  /** @param {string} id */
  async load(id) {
    if (id !== LISTING) return undefined
    const { listTools } = await import(pathToFileURL(LISTING).href)
    const text = JSON.stringify(JSON.stringify(await listTools()))
    return { code: `let tools\nexport const listTools = async () => (tools ??= JSON.parse(${text}))`, map: null }
  },
}
