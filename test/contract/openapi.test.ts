import { beforeAll, describe, expect, test } from 'vitest'
import { gatewayRoutes } from '../../src/contract/gateway/routes.js'
import { toOpenApi } from '../../src/contract/openapi.js'
import type { RouteDefinition } from '../../src/contract/route.js'

const routes: readonly RouteDefinition[] = gatewayRoutes

interface Operation {
  operationId: string
  security: object[]
  'x-extension'?: true
  parameters?: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[]
  requestBody?: { content: Record<string, { schema: Record<string, unknown> }> }
  responses: Record<string, { $ref?: string; content?: Record<string, Record<string, unknown>> }>
}

let description: { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, unknown> } }
beforeAll(() => {
  description = JSON.parse(JSON.stringify(toOpenApi(gatewayRoutes, '1.2.3')))
})

const operation = (id: string): Operation => {
  const found = Object.values(description.paths)
    .flatMap((path) => Object.values(path))
    .find((each) => each.operationId === id)
  if (found === undefined) throw new Error(`no operation ${id}`)
  return found
}

describe('the OpenAPI description', () => {
  test('contains every operation under its path and method, and marks extensions', () => {
    for (const route of routes) {
      const described = description.paths[route.path]?.[route.method.toLowerCase()]
      expect(described?.operationId).toBe(route.id)
      expect(described?.['x-extension']).toBe(route.extension)
      expect(described?.security).toEqual(
        route.scope === 'public' ? [] : [{ bearer: [`knowledge-spaces:${route.scope}`] }],
      )
    }
  })

  test('names the parameters of each path', () => {
    for (const route of routes) {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      const described = (operation(route.id).parameters ?? []).filter((each) => each.in === 'path')
      expect(described.map(({ name }) => name)).toEqual(names)
      expect(described.every(({ required }) => required)).toBe(true)
    }
  })

  test('declares query integers as integers with limits and default', () => {
    const limit = operation('listDocuments').parameters?.find(({ name }) => name === 'limit')
    expect(limit).toMatchObject({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    })
    const required = operation('fsLs').parameters?.filter((each) => each.in === 'query' && each.required)
    expect(required?.map(({ name }) => name).sort()).toEqual(['limit', 'path'])
  })

  test('declares exactly the statuses of the contract', () => {
    for (const route of routes) {
      const implied = route.scope === 'public' ? [403, 500] : [401, 403, 500]
      const statuses = [...Object.keys(route.ok).map(Number), ...route.errors, ...implied]
      expect(Object.keys(operation(route.id).responses).map(Number).sort()).toEqual([...new Set(statuses)].sort())
    }
  })

  test('describes forms, event streams and bytes', () => {
    const form = operation('uploadDocuments').requestBody?.content['multipart/form-data']?.schema
    expect(form).toMatchObject({
      required: ['files'],
      properties: {
        files: { type: 'array', items: { type: 'string', format: 'binary' } },
        sourceId: { format: 'uuid' },
      },
      additionalProperties: false,
    })
    const stream = operation('query').responses['200']?.content?.['text/event-stream']
    expect(Object.keys(stream?.['x-events'] ?? {})).toEqual(['answer.delta', 'answer.done', 'answer.error'])
    expect(operation('getMultimodalAsset').responses['200']?.content).toHaveProperty('application/octet-stream')
  })

  test('references only components that it contains', () => {
    const text = JSON.stringify(description)
    expect(text).not.toContain('#/$defs')
    for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = path
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], description)
      expect(target, path).toBeDefined()
    }
    expect(Object.keys(description.components.schemas)).toEqual(
      expect.arrayContaining(['KnowledgeSpace', 'OutlineNode', 'Error']),
    )
  })
})
