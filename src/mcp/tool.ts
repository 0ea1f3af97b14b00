import type { CallToolResult, Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { toJsonSchema } from '../contract/json-schema.js'
import { isRecord } from '../lib/json/values.js'
import { describeIgnored, parseArguments } from './arguments.js'
import { type ResourceLinkTarget, toLinkBlocks } from './content.js'
import type { LocalFileIngester } from './host.js'
import type { SessionAccess } from './spaces.js'

/** Context of a tool call. */
export interface ToolInvocation extends SessionAccess {
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal
  /** Reports progress to the client if it requested it: numbers of done and total steps. */
  reportProgress(message: string, done?: number, total?: number): void
  /** Absent if the server runs on another machine than its user's files. */
  ingester: LocalFileIngester | undefined
  /** Folders in which the client permits the server to work; undefined if it does not report any. */
  listRoots(): Promise<string[] | undefined>
}

export interface ToolOutput<T> {
  /** Text for a model, with text of documents marked. */
  text: string
  data: T
  links?: ResourceLinkTarget[]
}

export interface ToolDefinition {
  name: string
  /** Requires a token with write permission. */
  writes: boolean
  /** Requires the files of this machine. */
  isLocal: boolean
  describe(): Tool
  run(args: unknown, call: ToolInvocation): Promise<CallToolResult>
}

interface McpToolSpec<I extends z.ZodObject, O extends z.ZodObject> {
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
  run(args: z.output<I>, call: ToolInvocation): Promise<ToolOutput<z.output<O>>>
}

export const READ_ONLY: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }

/** Defines a tool from its schemas and its function. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(spec: McpToolSpec<I, O>): ToolDefinition {
  const { name, title, description, input, output, annotations } = spec
  let tool: Tool | undefined
  return {
    name,
    writes: annotations.readOnlyHint !== true,
    isLocal: spec.isLocal === true,
    describe: () => {
      tool ??= {
        name,
        title,
        description,
        inputSchema: toObjectSchema(input, 'input'),
        outputSchema: toObjectSchema(output(), 'output'),
        annotations: { title, ...annotations },
        ...(spec.isTask === true ? { execution: { taskSupport: 'optional' as const } } : {}),
      }
      return tool
    },
    run: async (args, call) => {
      const { values, ignored } = parseArguments(name, input, args)
      const result = await spec.run(values, call)
      return toToolResult({ ...result, text: describeIgnored(ignored) + result.text })
    },
  }
}

export function toToolResult({ text, data, links = [] }: ToolOutput<object>): CallToolResult {
  return { content: [{ type: 'text', text }, ...toLinkBlocks(links)], structuredContent: toPlainJson(data) }
}

/**
 * JSON Schema without redundancy, for models: omits the dialect, which the protocol defines, and patterns that repeat a
 * format.
 */
function toObjectSchema(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const withoutPattern = (_key: string, value: unknown) => {
    if (!isRecord(value) || typeof value.format !== 'string' || typeof value.pattern !== 'string') return value
    const { pattern: _, ...rest } = value
    return rest
  }
  const { $schema: _, ...rest } = JSON.parse(JSON.stringify(toJsonSchema(schema, io), withoutPattern))
  return rest
}

/** The data as sent: without keys that are undefined. */
function toPlainJson(data: object): Record<string, unknown> {
  const value: Record<string, unknown> = JSON.parse(JSON.stringify(data))
  return value
}
