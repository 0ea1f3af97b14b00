/**
 * The list of MCP tools, with the schemas of their input and output, is the same in every session and takes 10 ms to
 * build. Bundles contain it as JSON, which the first request for it parses.
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
