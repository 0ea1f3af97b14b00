import type { z } from 'zod'
import { omitUndefined } from '../lib/omit-undefined.js'
import { CALLERS, getRejectionStatus } from './callers.js'
import { ChatErrorBody } from './chat/routes.js'
import { ERRORS } from './errors.js'
import { REQUEST_EXAMPLES } from './examples.js'
import { ResearchLimitsExceeded } from './gateway/research.js'
import { type JsonSchema, toJsonSchema } from './json-schema.js'
import { ErrorBody } from './primitives.js'
import { describeProperties } from './property-descriptions.js'
import { needsBody, type RouteDefinition } from './route.js'
import { TAGS } from './tags.js'

type Json = Record<string, unknown>

const EXAMPLES: ReadonlyMap<string, unknown> = new Map(Object.entries(REQUEST_EXAMPLES))

/** Reasons of rejection by status; the stable code is in the header `x-error-code`. */
const ERROR_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'invalid request',
  401: 'missing or invalid token',
  403: 'the token lacks the scope, or the host or origin is not accepted',
  404: 'not found in the tenant of the caller',
  409: 'conflict with the state of the resource',
  413: 'a file, body or result exceeds its maximum size',
  422: 'the estimate exceeds limits of the task',
  429: 'a quota, budget or capacity is exceeded',
  500: 'unexpected error',
  501: 'this daemon is not configured for it',
  502: 'a provider failed',
  503: 'temporarily unavailable, the disk is full, or a provider of the space is not configured',
}

const ERROR_HEADERS = {
  'x-error-code': {
    description: 'stable machine-readable code',
    schema: { type: 'string', enum: Object.keys(ERRORS) },
  },
  'x-trace-id': { description: 'correlation id of the request', schema: { type: 'string' } },
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Idempotency key: a repeated request with the same key gets the stored response for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 512 },
}

/** Named schemas of the description. */
interface OpenApiComponents {
  schemas: Record<string, JsonSchema>
  /** Names of schemas that occur in responses. */
  responseNames: ReadonlySet<string>
}

/** The OpenAPI 3.1 description of a set of routes. */
export function toOpenApi(routes: readonly RouteDefinition[], version: string): Json {
  const components: OpenApiComponents = { schemas: {}, responseNames: new Set() }
  for (const route of routes) {
    toParameters(route.query, 'query', components)
    toSuccessResponses(route, components)
  }
  components.responseNames = new Set(Object.keys(components.schemas))
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace('*}', '}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route, components) }
  }
  const error = hoistSchema(ErrorBody, 'output', components)
  const limitsExceeded = hoistSchema(ResearchLimitsExceeded, 'output', components)
  const chatError = hoistSchema(ChatErrorBody, 'output', components)
  const usedTags = TAGS.filter((tag) => tag.routes.some((route) => routes.includes(route)))
  const described = {
    openapi: '3.1.0',
    info: {
      title: 'Knowledge Spaces',
      version,
      description: 'Knowledge space gateway and chat service. Operations with `x-extension` extend the API documents.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that serves this description.' }],
    tags: usedTags.map(({ name, description }) => ({ name, description })),
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: {
        ...Object.fromEntries(
          Object.entries(ERROR_DESCRIPTIONS).map(([status, description]) => [
            `Error${status}`,
            {
              description,
              headers: ERROR_HEADERS,
              content: { 'application/json': { schema: status === '422' ? limitsExceeded : error } },
            },
          ]),
        ),
        ChatError: { description: 'rejected request', content: { 'application/json': { schema: chatError } } },
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        applicationKey: { type: 'http', scheme: 'bearer', description: 'key of a chat application' },
      },
    },
  }
  describeProperties(described)
  return described
}

function toOperation(route: RouteDefinition, components: OpenApiComponents): Json {
  const parameters = [
    ...toParameters(route.params, 'path', components),
    ...toParameters(route.query, 'query', components),
    ...(acceptsIdempotencyKey(route) ? [IDEMPOTENCY_KEY] : []),
  ]
  return {
    operationId: route.id,
    summary: route.summary,
    description: formatDescription(route),
    tags: TAGS.filter(({ routes }) => routes.includes(route)).map(({ name }) => name),
    security: toSecurity(route),
    'x-callers': Object.entries(CALLERS).flatMap(([name, caller]) =>
      getRejectionStatus(route, caller) === undefined ? name : [],
    ),
    ...(route.extension === true ? { 'x-extension': true } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...toRequestBody(route, components),
    responses: { ...toSuccessResponses(route, components), ...toErrorResponses(route) },
  }
}

const SCOPE_REQUIREMENTS: Readonly<Record<RouteDefinition['scope'], string>> = {
  read: 'Requires a token with the scope `knowledge-spaces:read`.',
  write: 'Requires a token with the scope `knowledge-spaces:write`.',
  public: 'Requires no token.',
  application: 'Requires the key of a chat application.',
}

const RESTRICTIONS: Readonly<Record<NonNullable<RouteDefinition['only']>, string>> = {
  'every-scope': 'Requires the scope `knowledge-spaces:*`.',
  operator: 'Restricted to the operator.',
  'operator-outside-tabs': 'Restricted to the operator, outside of console tabs.',
}

/** The description of a route: its own text, its events and its access rules. */
function formatDescription(route: RouteDefinition): string {
  const events = Object.keys(route.events ?? {}).map((name) => `\`${name}\``)
  return [
    ...(route.description === undefined ? [] : [route.description]),
    ...(events.length === 0 ? [] : [`Responds with a stream of the events ${events.join(', ')}.`]),
    SCOPE_REQUIREMENTS[route.scope],
    ...(route.only === undefined ? [] : [RESTRICTIONS[route.only]]),
    ...(route.extension === true ? ['Extension of the API document.'] : []),
  ].join(' ')
}

function toSecurity({ scope }: RouteDefinition): Json[] {
  if (scope === 'public') return []
  return scope === 'application' ? [{ applicationKey: [] }] : [{ bearer: [`knowledge-spaces:${scope}`] }]
}

/** Every write accepts an idempotency key; a read does not, whatever its method. */
export function acceptsIdempotencyKey(route: RouteDefinition): boolean {
  return route.scope === 'write'
}

/** Parameters with the type and bounds of the parsed value: an integer in a query is an integer with its bounds. */
function toParameters(
  schema: z.ZodObject | undefined,
  location: 'path' | 'query',
  components: OpenApiComponents,
): Json[] {
  if (schema === undefined) return []
  const inputSchema = toJsonSchema(schema, 'input')
  const outputSchema = hoistDefinitions(toJsonSchema(schema, 'output'), components)
  return Object.entries(outputSchema.properties ?? {}).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || (inputSchema.required ?? []).includes(name),
    schema: property,
  }))
}

const JSON_TYPE = 'application/json'
const FORM_TYPES = ['multipart/form-data', 'application/x-www-form-urlencoded']

function toRequestBody(route: RouteDefinition, components: OpenApiComponents): Json {
  if (route.body !== undefined) {
    const schema = hoistSchema(route.body, 'input', components)
    const types = route.forms === true ? [JSON_TYPE, ...FORM_TYPES] : [JSON_TYPE]
    const example = EXAMPLES.get(route.id)
    const media = { schema, ...omitUndefined({ example }) }
    const content = Object.fromEntries(types.map((type) => [type, media]))
    return { requestBody: { required: needsBody(route) || route.scope === 'application', content } }
  }
  if (route.multipart === undefined) return {}
  const { file, fields } = route.multipart
  const binary = { type: 'string', format: 'binary' }
  const form = hoistSchema(fields, 'input', components)
  const schema = {
    ...form,
    properties: { [file.name]: file.many ? { type: 'array', items: binary, minItems: 1 } : binary, ...form.properties },
    required: [file.name, ...(form.required ?? [])],
  }
  return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } }
}

function toSuccessResponses(route: RouteDefinition, components: OpenApiComponents): Json {
  return Object.fromEntries(
    Object.entries(route.ok).map(([status, body]) => {
      if (body === 'empty') return [status, { description: 'success' }]
      if (body === 'binary') return [status, { description: 'bytes', content: toBinaryContent(route.binary) }]
      if (body === 'text')
        return [
          status,
          { description: 'text', content: { [route.text ?? 'text/plain']: { schema: { type: 'string' } } } },
        ]
      if (body === 'event-stream') return [status, { ...toEventStream(route, components), ...toHeaders(route) }]
      return [
        status,
        {
          description: 'success',
          content: { 'application/json': { schema: hoistSchema(body, 'output', components) } },
        },
      ]
    }),
  )
}

function toHeaders({ headers }: RouteDefinition): Json {
  if (headers === undefined) return {}
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return { headers: Object.fromEntries(described) }
}

function toBinaryContent(types: readonly string[] = ['application/octet-stream']): Json {
  return Object.fromEntries(types.map((type) => [type, { schema: {} }]))
}

/** Frames `event: name`, `data: json`. OpenAPI cannot describe them, so `x-events` holds the payloads. */
function toEventStream(route: RouteDefinition, components: OpenApiComponents): Json {
  const events = Object.entries(route.events ?? {}).map(
    ([name, schema]) => [name, hoistSchema(schema, 'output', components)] as const,
  )
  const data = { contentMediaType: 'application/json', contentSchema: { oneOf: events.map(([, schema]) => schema) } }
  return {
    description: 'server-sent events',
    content: {
      'text/event-stream': {
        schema: { type: 'string', ...(events.length === 0 ? {} : data) },
        ...omitUndefined({ example: route.streamExample }),
        'x-events': Object.fromEntries(events),
      },
    },
  }
}

function toErrorResponses(route: RouteDefinition): Json {
  const impliedStatuses = route.scope === 'public' ? [403, 500] : [401, 403, 500]
  const responseName = (status: number) => (route.scope === 'application' ? 'ChatError' : `Error${status}`)
  const statuses = [...new Set([...route.errors, ...impliedStatuses])].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${responseName(status)}` }]),
  )
}

/** The schema, with all named definitions moved to the components. */
function hoistSchema(schema: z.ZodType, io: 'input' | 'output', components: OpenApiComponents): JsonSchema {
  const outputSchema = toJsonSchema(schema, 'output')
  return hoistDefinitions(
    io === 'output'
      ? outputSchema
      : renameInputSchemas(toJsonSchema(schema, 'input'), outputSchema, components.responseNames),
    components,
  )
}

/**
 * Renames definitions whose input form differs from the response form, for example by omitted defaults, to `…Input`.
 */
function renameInputSchemas(
  inputSchema: JsonSchema,
  outputSchema: JsonSchema,
  responseNames: ReadonlySet<string>,
): JsonSchema {
  const definitions = Object.entries(inputSchema.$defs ?? {}).map(
    ([name, definition]) => [name, toJsonText(definition)] as const,
  )
  const renamed = new Set<string>()
  for (let previousSize = -1; previousSize < renamed.size; ) {
    previousSize = renamed.size
    for (const [name, text] of definitions) {
      const usesRenamed = [...renamed].some((other) => text.includes(`"#/$defs/${other}"`))
      if (responseNames.has(name) && (usesRenamed || text !== toJsonText(outputSchema.$defs?.[name]))) renamed.add(name)
    }
  }
  const toName = (name: string) => (renamed.has(name) ? `${name}Input` : name)
  const { $defs = {}, ...rest }: JsonSchema = JSON.parse(
    toJsonText(inputSchema).replaceAll(/"#\/\$defs\/([^"]+)"/g, (_, name: string) => `"#/$defs/${toName(name)}"`),
  )
  return { ...rest, $defs: Object.fromEntries(Object.entries($defs).map(([name, one]) => [toName(name), one])) }
}

function toJsonText(schema: JsonSchema | undefined): string {
  return JSON.stringify(schema ?? null)
}

function hoistDefinitions(schema: JsonSchema, components: OpenApiComponents): JsonSchema {
  const { $defs, ...rest } = rewriteReferences(schema)
  Object.assign(components.schemas, $defs)
  return rest
}

function rewriteReferences(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, value) => (key === '$schema' ? undefined : value))
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'))
}
