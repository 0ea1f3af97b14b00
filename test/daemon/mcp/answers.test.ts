import { afterAll, beforeAll, expect, test } from 'vitest'
import { estimateTokens } from '../../../src/mcp/budget.js'
import { createInProcessApi } from '../../../src/mcp/in-process.js'
import { SpaceDirectory } from '../../../src/mcp/spaces.js'
import type { ToolInvocation } from '../../../src/mcp/tool.js'
import { loadTool } from '../../../src/mcp/tools/all.js'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'
import { ADA, ingest } from '../../helpers/engine.js'
import { connectClient, type HttpSession } from '../../helpers/mcp.js'

let edge: TestEdge
let ada: HttpSession

beforeAll(async () => {
  edge = await startEdge()
  const json = { name: 'Harbour', slug: 'harbour' }
  const made = await edge.send('POST', '/knowledge-spaces', { token: edge.tokens.ada, json })
  const { id } = (await made.json()) as { id: string }
  const boats = Array.from({ length: 12 }, (_, n) => [
    `boats/boat-${n}.md`,
    `# Boat ${n}\n\nThe boat number ${n} of the harbour carries ${n + 10} sailors. ${`Its sail has the colour ${n}. `.repeat(60)}\n`,
  ])
  await ingest(edge.engine, ADA, id, Object.fromEntries(boats))
  ada = await connectClient(edge, edge.tokens.ada)
})
afterAll(async () => {
  await ada.client.close()
  await edge.end()
})

/**
 * The output of a tool if the service answers differently. @param answer replaces the reply of the service where it
 * returns one
 */
async function saidWhere(
  name: string,
  args: object,
  answer: (url: string, real: () => Promise<Response>) => Promise<Response>,
) {
  const dispatch = async (request: Request) => answer(request.url, async () => edge.app.fetch(request, {}))
  const api = createInProcessApi(dispatch, edge.tokens.ada)
  const call: ToolInvocation = {
    api,
    spaces: new SpaceDirectory(api),
    signal: new AbortController().signal,
    reportProgress() {},
    ingester: undefined,
    listRoots: async () => undefined,
  }
  const result = await (await loadTool(name))?.run(args, call)
  return {
    text: (result?.content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    data: result?.structuredContent ?? {},
  }
}

test.each([
  ['search', { query: 'zzqqxx wwkkjj' }, '/queries/search'],
  ['ask', { question: 'Who is zzqqxx wwkkjj?' }, '/queries'],
] as const)(
  'the MCP tool %s does not count a document as searched if it was published during the search',
  async (name, args, path) => {
    let hasSearched = false
    const { text } = await saidWhere(name, args, async (url, real) => {
      const response = await real()
      hasSearched ||= new URL(url).pathname.endsWith(path)
      // A document is open until the search is over.
      if (url.includes('state=open') && !hasSearched) return Response.json({ items: [{}] })
      return response
    })
    expect(hasSearched).toBe(true)
    expect(text).toContain('NOT current')
    expect(text).toContain('1 document is still being read')
  },
)

test.each([
  ['find', { nameContains: 'boat-3' }, 'fs/find'],
  ['list', { path: '/sources/uploads/boats' }, 'fs/ls'],
  ['grep', { pattern: 'carries 13 sailors' }, 'fs/grep'],
] as const)('the MCP tool %s asks again before it reports that nothing exists', async (name, args, path) => {
  let isFirst = true
  const { text } = await saidWhere(name, args, async (url, real) => {
    if (!url.includes(path) || !isFirst) return real()
    isFirst = false
    return Response.json({ items: [], matches: [], truncated: false })
  })
  expect(isFirst).toBe(false)
  expect(text).toContain('boat-3')
})

test('the MCP tools search and graph without hits report what could not be searched instead of an absence', async () => {
  const reason = 'the vectors of the space are not there'
  const search = await saidWhere('search', { query: 'boats' }, async (url, real) =>
    url.includes('/queries/search') ? Response.json({ items: [], degradedReasons: [reason] }) : real(),
  )
  expect(search.text).toMatch(/NOT everything could be searched, so it may still be in the documents: the vectors/)
  expect(search.text).not.toContain('all of the documents')
  const graph = await saidWhere('graph', { query: 'zzzqqq' }, async (url, real) =>
    url.includes('/graph/entities') ? Response.json({ items: [], degradedReasons: [reason] }) : real(),
  )
  expect(graph.data).toMatchObject({ degradedReasons: [reason] })
  expect(graph.text).toMatch(/may be incomplete: the vectors(?:.|\n)*NOT everything could be searched/)
})

test('MCP searches limited to some documents or a folder report only that these were searched', async () => {
  const { text } = await saidWhere('search', { query: 'zzqqxx wwkkjj', documents: ['boats/boat-1.md'] }, (_, real) =>
    real(),
  )
  expect(text).toContain('the search covered all of the selected documents')
  expect(await ada.text('grep', { pattern: 'zzqqxx', path: '/sources/uploads/boats' })).toContain(
    'the search covered all of the content of /sources/uploads/boats',
  )
})

test('MCP tools refuse a blank question instead of returning an empty result', async () => {
  for (const [name, args] of [
    ['search', { query: '  \n' }],
    ['ask', { question: ' ' }],
    ['research', { question: '\t' }],
  ] as const)
    expect(await ada.text(name, args)).toMatch(/^invalid-request: (?:query|question) /)
})

test('the MCP tool search returns all passages over several calls with its cursor, also more than its limit', async () => {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const args = {
      query: 'boat harbour sailors',
      limit: 5,
      maxTokens: 2000,
      ...(cursor === undefined ? {} : { cursor }),
    }
    const { structuredContent } = await ada.client.callTool({ name: 'search', arguments: args })
    const { passages, nextCursor } = structuredContent as unknown as {
      passages: { number: number; document: string }[]
      nextCursor?: string
    }
    for (const { number, document } of passages) seen[number - 1] = document
    cursor = nextCursor
  } while (cursor !== undefined)
  expect(new Set(seen).size).toBe(12)
})

test.each(['search', 'ask'])('the complete output of the MCP tool %s has at most 125 % of maxTokens', async (name) => {
  const text = 'Which boat of the harbour carries 13 sailors?'
  for (const maxTokens of [200, 600, 1500]) {
    const args = name === 'ask' ? { question: text, maxTokens } : { query: text, maxTokens }
    expect(estimateTokens(await ada.text(name, args))).toBeLessThan(maxTokens * 1.25)
  }
})

test('a truncated passage of the MCP tool search states how to read it completely', async () => {
  const answer = await ada.client.callTool({ name: 'search', arguments: { query: 'boat 7', limit: 1, maxTokens: 200 } })
  const said = JSON.stringify(answer.content)
  expect(said).toContain('Truncated: `read` with its start and end')
  const { passages } = answer.structuredContent as unknown as {
    passages: { uri: string; start: number; end: number; text: string }[]
  }
  const { uri, start, end, text } = passages[0] ?? { uri: '', start: 0, end: 0, text: '' }
  const { structuredContent: whole } = await ada.client.callTool({
    name: 'read',
    arguments: { document: uri, start, end },
  })
  const all = (whole as unknown as { text: string }).text
  expect(all.length).toBeGreaterThan(text.length)
  expect(all.replace(/\s+/g, ' ')).toContain(text.slice(0, 100).replace(/\s+/g, ' '))
})

test('MCP tools answer an unknown path with similar existing paths that work in the next call', async () => {
  for (const [name, args] of [
    ['read', { document: '/sources/uploads/boats/boat-33.md' }],
    ['read', { document: 'ks://harbour/sources/uploads/boats/boat-33.md' }],
    ['outline', { document: '/sources/uploads/boats/boat-33.md' }],
  ] as const) {
    const said = await ada.text(name, args)
    expect(said).toMatch(/not-found: .*boats contains no "boat-33.md"/)
    const [path = ''] = /^\/sources\S*boat-3\.md$/m.exec(said) ?? []
    expect(await ada.text('read', { document: path })).toContain('carries 13 sailors')
  }
  expect(await ada.text('list', { path: '/sources/uplods/boats' })).toMatch(
    /\/sources contains no "uplods"(?:.|\n)*uploads\//,
  )
})

test('the refusal of an MCP tool call uses the argument names of the tool', async () => {
  expect(await ada.text('grep', { pattern: 're:(' })).toContain('invalid-request: pattern is not an expression')
  await ada.text('write', { path: '/workspaces/w/a.md', content: 'x' })
  const moved = await ada.text('move', { from: '/workspaces/w', to: '/workspaces/w/deeper' })
  expect(moved).toContain('to must not be from or in it')
})

test('MCP tools do not report an unknown document as missing for good while documents are being read', async () => {
  for (const document of ['late.md', '/sources/uploads/boats/late.md']) {
    const args = { name: 'read', arguments: { document } }
    expect(JSON.stringify((await ada.client.callTool(args)).content)).not.toContain('NOT current')
    const failed = saidWhere('read', { document }, async (url, real) =>
      url.includes('state=open') ? Response.json({ items: [{}] }) : real(),
    )
    await expect(failed).rejects.toMatchObject({
      code: 'not-found',
      next: expect.stringContaining('NOT current, so it may appear later: 1 document is still being read'),
    })
  }
})

test('the MCP tool ask reports an interrupted answer stream with what to do', async () => {
  const failed = saidWhere('ask', { question: 'Which boat carries 13 sailors?' }, async (url, real) => {
    if (!url.endsWith('/queries')) return real()
    const frames = 'event: answer.delta\ndata: {"delta":"The boat"}\n\n'
    return new Response(frames, { headers: { 'content-type': 'text/event-stream' } })
  })
  await expect(failed).rejects.toMatchObject({
    code: 'answer-failed',
    message: 'the answer stopped early: the stream ended early',
    next: expect.stringContaining('Call again'),
  })
})
