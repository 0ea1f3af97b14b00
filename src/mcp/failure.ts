import type { CallToolResult } from '@modelcontextprotocol/server'
import { ApiError, ConnectionError } from '../client/errors.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { ToolTextWriter, toOneLine } from './content.js'

/** A failure that the caller can correct: what is wrong, and what to do next. */
export class ToolError extends Error {
  readonly code: string
  readonly next: string
  /** Text of documents that helps, such as names to choose from. */
  readonly content: readonly string[]

  constructor(code: string, message: string, next: string, content: readonly string[] = []) {
    super(message)
    this.content = content
    this.name = 'ToolError'
    this.code = code
    this.next = next
  }
}

/** Advice for a model, by error code. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  'invalid-request': 'Correct the argument that the message names and call again.',
  'invalid-cursor': 'Call again without cursor; a cursor is only valid with the same arguments.',
  unauthenticated: 'Tell the user that the token is missing, has expired or was revoked; calling again does not help.',
  'scope-missing': 'Tell the user that the token does not permit this; read-only tools may still work.',
  'not-found': 'Check the name: `spaces` lists spaces, `list` and `find` list their content.',
  'slug-taken': 'Choose another name.',
  'path-taken': 'Choose another path, or remove the existing file.',
  'capacity-exceeded': 'Wait some seconds and call again.',
  'rate-limited': 'Wait and call again; request more in one call instead of calling often.',
  busy: 'Wait some seconds and call again.',
  'quota-exceeded': 'Tell the user that a quota is used up; calling again does not help.',
  'research-limits-exceeded': 'Ask a narrower question, or give a larger budget.',
  'already-terminal': 'The task has ended: get its result with `research_status`.',
  usage: 'Correct the argument that the message names and call again.',
  'not-configured': 'Tell the user that this needs a setting of the service.',
  'provider-not-configured': 'Tell the user that a model provider is not configured; `search` works without one.',
  unavailable: 'Wait some seconds and call again.',
  unreachable: 'The service is unreachable. Wait some seconds and call again; tell the user if that fails, too.',
  timeout: 'Call again, with a narrower question or path.',
  'answer-failed': 'Call again, or use `search` and read the passages yourself.',
}
const DEFAULT_NEXT_STEP = 'Report the message to the user.'

interface ToolFailure {
  code: string
  message: string
  next: string
  traceId?: string
  /** In seconds. */
  retryAfter?: number
}

/** Makes a handler that rethrows a rejection. @param names argument names of the tool by those of the operation */
export function rethrowWithArgumentNames(names: Readonly<Record<string, string>>): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
    const message = Object.entries(names).reduce(
      (text, [name, argumentName]) =>
        text.replaceAll(new RegExp(`\\b${name}\\b(?= (?:must|is|names|would|or in it))`, 'g'), argumentName),
      error.message,
    )
    throw new ToolError(error.code, message, NEXT_STEPS[error.code] ?? DEFAULT_NEXT_STEP)
  }
}

export function toToolFailure(error: unknown): ToolFailure {
  if (error instanceof ToolError) return { code: error.code, message: error.message, next: error.next }
  if (error instanceof ApiError) {
    const { code, message, traceId, retryAfter } = error
    const next =
      NEXT_STEPS[code] ?? (error.status === 400 ? NEXT_STEPS['invalid-request'] : undefined) ?? DEFAULT_NEXT_STEP
    return { code, message, next, ...omitUndefined({ traceId, retryAfter }) }
  }
  if (error instanceof ConnectionError)
    return { code: error.code, message: error.message, next: NEXT_STEPS[error.code] ?? '' }
  // Errors of CLI commands have their own code and hint.
  if (error instanceof Error) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : 'internal'
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined
    return { code, message: error.message, next: hint ?? NEXT_STEPS[code] ?? DEFAULT_NEXT_STEP }
  }
  return { code: 'internal', message: 'the call failed unexpectedly', next: DEFAULT_NEXT_STEP }
}

/** A failure as a tool result, which the model reads; it would not see a protocol error. */
export function toErrorResult(error: unknown): CallToolResult {
  const failure = toToolFailure(error)
  const waitText = failure.retryAfter === undefined ? '' : ` (after ${failure.retryAfter} s)`
  const traceText =
    failure.next === DEFAULT_NEXT_STEP && failure.traceId ? ` The daemon’s log has more under ${failure.traceId}.` : ''
  const writer = new ToolTextWriter().line(
    `${failure.code}: ${failure.message}\nNext: ${failure.next}${waitText}${traceText}`,
  )
  if (error instanceof ToolError && error.content.length > 0) writer.content(error.content.map(toOneLine).join('\n'))
  return {
    isError: true,
    content: [{ type: 'text', text: writer.text() }],
    _meta: { 'knowledge-spaces/error': failure },
  }
}
