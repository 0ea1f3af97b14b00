import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { ChatError, invalidParamError } from '../../contract/chat/errors.js'
import { KsError } from '../../contract/errors.js'
import { describeIssue } from '../../contract/issues.js'
import type { RouteDefinition } from '../../contract/route.js'
import { isRecord } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { readBytes, readJson, rejectEncodedBody } from '../http/body.js'
import { getQueryText } from '../http/query.js'
import { readChatForm } from './form.js'

/** Maximum size of a text to read aloud, in any script. */
const MAX_FIELD_BYTES = 64 * 1024
/** An escaped surrogate, paired or not. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/

/**
 * Reads a request of the chat service, more leniently than one of the gateway: unknown keys are ignored, and null or
 * blank values count as absent, as clients of this service expect.
 *
 * @throws ChatError `invalid_param`, `bad_request`
 */
export async function readChatInput(
  route: RouteDefinition,
  params: Record<string, string>,
  request: Request,
  incoming: IncomingMessage | undefined,
): Promise<{ params: unknown; query: unknown; body: unknown }> {
  const query = withoutBlanks(Object.fromEntries(new URLSearchParams(getQueryText(request.url))))
  return {
    params: route.params && parseChatValue(route.params, params),
    query: route.query && parseChatValue(route.query, query),
    body: route.body && parseChatValue(route.body, await readBody(route, { params, query }, request, incoming)),
  }
}

/** Some proxies drop the body of a DELETE, so its fields may also be in the query. */
async function readBody(
  route: RouteDefinition,
  { params, query }: { params: Record<string, string>; query: Record<string, unknown> },
  request: Request,
  incoming: IncomingMessage | undefined,
): Promise<Record<string, unknown>> {
  if (route.method === 'DELETE' && !hasBody(request, incoming)) return query
  // Disabling needs no input, and clients send arbitrary bodies.
  if (params.action === 'disable') return {}
  const parsed =
    route.forms === true && !isJson(request)
      ? await readFormFields(request, incoming)
      : await readJsonBody(request, incoming)
  // Some clients send `null` instead of no body.
  const value = parsed === null && route.method === 'DELETE' ? {} : parsed
  if (!isRecord(value)) throw createJsonError('the body must be a JSON object')
  const fields = normalizeSpelling(withoutBlanks(value, route.blanks))
  return route.method === 'DELETE' ? { ...query, ...fields } : fields
}

/** Maps spellings of some clients to those of the contract. */
function normalizeSpelling({ responseMode, ...fields }: Record<string, unknown>): Record<string, unknown> {
  return {
    // Spelling of an early Node client.
    ...omitUndefined({ response_mode: responseMode }),
    ...fields,
    // Messengers have numeric user ids, and bots send them unchanged.
    ...(Number.isSafeInteger(fields.user) ? { user: String(fields.user) } : {}),
    // In PHP, an empty array is both a list and an object.
    ...(Array.isArray(fields.inputs) && fields.inputs.length === 0 ? { inputs: {} } : {}),
  }
}

/** JSON is UTF-8 whatever charset its type states. */
const JSON_TYPE = /^(application|text)\/([\w.-]+\+)?json\s*(;|$)/i

function isJson(request: Request): boolean {
  return JSON_TYPE.test(request.headers.get('content-type')?.trim() ?? '')
}

/** The fields of a form, multipart or URL-encoded. */
async function readFormFields(
  request: Request,
  incoming: IncomingMessage | undefined,
): Promise<Record<string, string>> {
  const tooLarge = () => new ChatError('too_large', 'the form is too large')
  const missing = () =>
    new ChatError('bad_request', 'the body must be JSON, multipart/form-data or application/x-www-form-urlencoded')
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\b/i.test(type.trim()))
    return readChatForm(request, incoming, { maxFieldBytes: MAX_FIELD_BYTES, missing, tooLarge })
  rejectEncodedBody(request.headers)
  const bytes = await readBytes(request, incoming)
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
}

function hasBody(request: Request, incoming: IncomingMessage | undefined): boolean {
  if (incoming === undefined) return request.body !== null
  return Number(request.headers.get('content-length') ?? 0) > 0 || request.headers.has('transfer-encoding')
}

async function readJsonBody(request: Request, incoming: IncomingMessage | undefined): Promise<unknown> {
  if (!isJson(request)) throw createJsonError('the body requires the content-type application/json')
  try {
    const { value, text } = await readJson(request, incoming, JSON_TYPE)
    return ESCAPED_SURROGATE.test(text) ? JSON.parse(text, toWellFormed) : value
  } catch (error) {
    if (error instanceof KsError && error.code === 'malformed-json') throw createJsonError(error.message)
    throw error
  }
}

function createJsonError(hint?: string): ChatError {
  const message = 'Invalid JSON payload received or JSON payload is empty.'
  return new ChatError('bad_request', message, hint === undefined ? {} : { hint })
}

/** Replaces lone surrogates, which can be neither stored nor sent. */
function toWellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value
}

/** Removes null and blank values, except for texts of the given keys. */
export function withoutBlanks(value: object, blanks: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).filter(([key, entry]) => {
      if (typeof entry === 'string') return entry.trim() !== '' || blanks.includes(key)
      return entry !== null && entry !== undefined
    }),
  )
}

/** @throws ChatError `invalid_param` with the first invalid field */
export function parseChatValue(schema: z.ZodType, input: object): unknown {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const field = String(result.error.issues[0]?.path[0] ?? 'body')
  // Clients match on this message.
  if (field === 'user' && !('user' in input)) throw invalidParamError(field, 'Arg user must be provided.')
  const sentence = describeIssue(result.error, schema, input, 'the body')
  const [issue] = result.error.issues
  // Clients search for the second half to detect that a stored conversation id is useless.
  const uuid = issue?.code === 'invalid_format' && issue.format === 'uuid'
  throw invalidParamError(field, uuid ? `${sentence}, which is not a valid uuid` : sentence)
}
