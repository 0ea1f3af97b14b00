import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { expect, test } from 'vitest'
import { startKsd, temporaryDir } from '../../helpers/daemon.js'
import { createTestTokens } from '../../helpers/tokens.js'

test('the LangChain adapters convert and call the MCP tools of the daemon', async () => {
  const { path, remove } = temporaryDir()
  const daemon = await startKsd(path)
  const { ada } = await createTestTokens(path)
  const authorization = `Bearer ${ada}`
  const url = `${daemon.ready.url}/mcp`
  const client = new MultiServerMCPClient({ spaces: { transport: 'http', url, headers: { authorization } } })
  try {
    const made = await fetch(`${daemon.ready.url}/knowledge-spaces`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Harbour', slug: 'harbour' }),
    })
    expect(made.status).toBe(201)
    const tools = await client.getTools()
    const named = (name: string) => tools.find((tool) => tool.name === name)
    expect(tools.length).toBeGreaterThan(15)
    expect(JSON.stringify(await named('spaces')?.invoke({}))).toContain('harbour: 0 documents')
    expect(JSON.stringify(await named('write')?.invoke({ path: '/workspaces/a/b.md', content: 'hello' }))).toContain(
      'Written',
    )
    expect(JSON.stringify(await named('read')?.invoke({ document: '/workspaces/a/b.md' }))).toContain('hello')
    await expect(named('search')?.invoke({ query: 'x', space: 'nope' })).rejects.toThrow(/There are: harbour/)
  } finally {
    await client.close()
    await daemon.end('SIGTERM')
    remove()
  }
})
