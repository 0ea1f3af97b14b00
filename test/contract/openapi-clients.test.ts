import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { toOpenApi } from '../../src/contract/openapi.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { allRoutes } from '../../src/contract/routes.js'
import { startEdge, type TestEdge } from '../helpers/daemon.js'

const routes: readonly RouteDefinition[] = allRoutes
const source = JSON.stringify(toOpenApi(allRoutes, '1.2.3'))

interface Described {
  info: { license?: { name: string } }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}
interface Operation {
  operationId: string
  description?: string
  tags?: string[]
  requestBody?: { content: Record<string, { example?: object }> }
}
const described: Described = JSON.parse(source)
const operations = Object.values(described.paths).flatMap((path) => Object.values(path))

describe('the OpenAPI description', () => {
  test('passes two linters without a warning', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
    expect(await new Validator().validate(JSON.parse(source))).toMatchObject({ valid: true })
  })

  test('describes every operation, parameter and property, and puts each operation in one group', () => {
    const bare: string[] = []
    const look = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return
      const { properties, name, in: place, description, type } = value as Record<string, unknown>
      if (typeof properties === 'object' && properties !== null && (type === 'object' || type === undefined))
        for (const [key, property] of Object.entries(properties))
          if (property.description === undefined && property.$ref === undefined) bare.push(`${at}/${key}`)
      if (typeof name === 'string' && typeof place === 'string' && description === undefined) bare.push(`${at}/${name}`)
      for (const [key, part] of Object.entries(value)) look(part, `${at}/${key}`)
    }
    look(described, '')
    expect(bare).toEqual([])
    expect(operations.filter(({ description = '' }) => description.length < 10)).toEqual([])
    const names = new Set(described.tags.map(({ name }) => name))
    for (const { operationId, tags = [] } of operations) {
      expect(tags, operationId).toHaveLength(1)
      expect(names.has(tags[0] ?? ''), operationId).toBe(true)
    }
    expect(described.info.license).toMatchObject({ name: 'MIT' })
  })

  test('contains a valid example of every JSON body', () => {
    const withBody = routes.filter(({ body }) => body !== undefined)
    expect(withBody.length).toBeGreaterThan(0)
    for (const { id, body } of withBody) {
      const content = operations.find(({ operationId }) => operationId === id)?.requestBody?.content
      const example = content?.['application/json']?.example
      expect(example, id).toBeDefined()
      const read = body?.safeParse(example)
      expect(read?.error?.issues, id).toBeUndefined()
      // A schema that ignores unknown keys would accept a misspelt one, so the parsed value must equal the example.
      expect(read?.data, id).toMatchObject(example ?? {})
    }
  })

  test('requires nothing in a request that has a default', () => {
    const { ChatInputControl, ChatInputControlInput, ChatAppRequest, ChatApp } = described.components.schemas
    const required = '"required":["label","variable","required"'
    expect(JSON.stringify(ChatInputControl)).toContain(required)
    expect(JSON.stringify(ChatInputControlInput)).not.toContain(required)
    expect(JSON.stringify(ChatAppRequest)).toContain('schemas/ChatInputControlInput"')
    expect(JSON.stringify(ChatApp)).toContain('schemas/ChatInputControl"')
  })
})

const PROGRAM = `import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

export async function ask(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })
  const made = await client.POST('/knowledge-spaces', { body: { name: 'Generated', slug: 'generated' } })
  if (made.data === undefined) throw new Error(made.error.error)
  const space: components['schemas']['KnowledgeSpace'] = made.data
  const { data, response } = await client.POST('/queries', {
    body: { knowledgeSpaceId: space.id, query: 'Is anybody here?' },
    parseAs: 'text',
  })
  const last = (data ?? '').trim().split('\\n').at(-1) ?? ''
  const done: components['schemas']['AnswerDone'] = JSON.parse(last.slice('data: '.length))
  const mode: 'fast' | 'deep' | 'research' | undefined = done.metadata?.mode
  return { slug: space.slug, mode, state: done.metadata?.evidenceBundle?.state, trace: response.headers.get('x-query-run-id') }
}
`

describe('a generated client', () => {
  // Inside the project, so that its imports resolve.
  const parent = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
  let dir: string
  let edge: TestEdge
  let server: Server

  beforeAll(async () => {
    mkdirSync(parent, { recursive: true })
    dir = mkdtempSync(join(parent, 'generated-'))
    edge = await startEdge()
    server = createServer(getRequestListener((request) => edge.app.fetch(request, { listener: { kind: 'socket' } })))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await edge.end()
    removeFolder(dir)
  })

  test('compiles in strict mode and asks a question', async () => {
    writeFileSync(join(dir, 'schema.ts'), astToString(await openapiTS(source)))
    const file = join(dir, 'ask.ts')
    writeFileSync(file, PROGRAM)
    writeFileSync(join(dirname(file), 'package.json'), '{"type":"module"}')
    const program = ts.createProgram([file], {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      types: [],
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    })
    const problems = ts.getPreEmitDiagnostics(program)
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
    program.emit()
    const { ask } = await import(pathToFileURL(join(dir, 'ask.js')).href)
    const { port } = server.address() as AddressInfo
    const token = edge.tokens.ada
    expect(await ask(`http://127.0.0.1:${port}`, token)).toEqual({
      slug: 'generated',
      mode: 'fast',
      state: 'not-enough-evidence',
      trace: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })
})
