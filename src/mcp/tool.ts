import type { CallToolResult, Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { refusal } from '../contract/issues.js'
import { jsonSchema } from '../contract/json-schema.js'
import { isRecord } from '../lib/json/values.js'
import type { Api } from './api.js'
import { type Link, linkBlocks } from './content.js'
import { ToolError } from './failure.js'
import type { LocalFiles } from './host.js'
import type { Spaces } from './spaces.js'

/** Context of a tool call. */
export interface ToolCall {
  api: Api
  spaces: Spaces
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal
  /** Reported to the client if it requested progress. */
  progress(message: string, done?: number, total?: number): void
  /** Absent if the server runs on another machine than its user's files. */
  local: LocalFiles | undefined
  /** Folders in which the client permits the server to work; undefined if it does not report any. */
  roots(): Promise<string[] | undefined>
}

export interface ToolAnswer<T> {
  /** Text for a model, with text of documents marked. */
  text: string
  data: T
  links?: Link[]
}

export interface ToolDefinition {
  name: string
  /** Requires a token with write permission. */
  writes: boolean
  /** Requires the files of this machine. */
  isLocal: boolean
  describe(): Tool
  run(args: unknown, call: ToolCall): Promise<CallToolResult>
}

interface ToolParts<I extends z.ZodObject, O extends z.ZodObject> {
  name: string
  title: string
  description: string
  input: I
  /** Created on demand: a call does not need it. */
  output(): O
  annotations: ToolAnnotations
  isLocal?: true
  /** May be run as a task of the protocol. */
  isTask?: true
  run(args: z.output<I>, call: ToolCall): Promise<ToolAnswer<z.output<O>>>
}

export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }

/** Defines a tool from its schemas and its function. */
export function tool<I extends z.ZodObject, O extends z.ZodObject>(parts: ToolParts<I, O>): ToolDefinition {
  const { name, title, description, input, output, annotations } = parts
  let described: Tool | undefined
  return {
    name,
    writes: annotations.readOnlyHint !== true,
    isLocal: parts.isLocal === true,
    describe: () => {
      described ??= {
        name,
        title,
        description,
        inputSchema: objectSchema(input, 'input'),
        outputSchema: objectSchema(output(), 'output'),
        annotations: { title, ...annotations },
        ...(parts.isTask === true ? { execution: { taskSupport: 'optional' as const } } : {}),
      }
      return described
    },
    run: async (args, call) => resultOf(await parts.run(argumentsOf(name, input, args), call)),
  }
}

/** @throws ToolError with the invalid argument and the rule */
export function argumentsOf<I extends z.ZodObject>(name: string, input: I, args: unknown): z.output<I> {
  const parsed = input.safeParse(args ?? {})
  if (parsed.success) return parsed.data
  throw new ToolError(
    'invalid-request',
    refusal(parsed.error, input, args, 'the arguments'),
    `Call \`${name}\` again with arguments that match its input schema.`,
  )
}

export function resultOf({ text, data, links = [] }: ToolAnswer<object>): CallToolResult {
  return { content: [{ type: 'text', text }, ...linkBlocks(links)], structuredContent: plain(data) }
}

/**
 * JSON Schema without redundancy, for models: omits the dialect, which the protocol defines, and patterns that repeat a
 * format.
 */
function objectSchema(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const withoutPattern = (_key: string, value: unknown) => {
    if (!isRecord(value) || typeof value.format !== 'string' || typeof value.pattern !== 'string') return value
    const { pattern: _, ...rest } = value
    return rest
  }
  const { $schema: _, ...rest } = JSON.parse(JSON.stringify(jsonSchema(schema, io), withoutPattern))
  return rest
}

/** The data as sent: without keys that are undefined. */
function plain(data: object): Record<string, unknown> {
  const value: Record<string, unknown> = JSON.parse(JSON.stringify(data))
  return value
}
