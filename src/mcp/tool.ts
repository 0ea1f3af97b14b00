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

/** What a tool works with beside its arguments. */
export interface ToolCall {
  api: Api
  spaces: Spaces
  /** aborts when the client cancels the call or goes away */
  signal: AbortSignal
  /** told to the client where it asked for it */
  progress(message: string, done?: number, total?: number): void
  /** absent where the server is on another machine than its user's files */
  local: LocalFiles | undefined
  /** folders that the client lets the server work in; undefined where it does not say */
  roots(): Promise<string[] | undefined>
}

export interface ToolAnswer<T> {
  /** for a model, with the words of documents marked */
  text: string
  data: T
  links?: Link[]
}

export interface ToolDefinition {
  name: string
  /** needs a token that may write */
  writes: boolean
  /** needs the files of this machine */
  isLocal: boolean
  describe(): Tool
  run(args: unknown, call: ToolCall): Promise<CallToolResult>
}

interface ToolParts<I extends z.ZodObject, O extends z.ZodObject> {
  name: string
  title: string
  description: string
  input: I
  /** made where somebody asks for it: a call does not */
  output(): O
  annotations: ToolAnnotations
  isLocal?: true
  /** may be run as a task of the protocol */
  isTask?: true
  run(args: z.output<I>, call: ToolCall): Promise<ToolAnswer<z.output<O>>>
}

export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }

/** A tool from its schemas and what it does. */
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

/** @throws ToolError that says which argument is wrong, and how */
export function argumentsOf<I extends z.ZodObject>(name: string, input: I, args: unknown): z.output<I> {
  const parsed = input.safeParse(args ?? {})
  if (parsed.success) return parsed.data
  throw new ToolError(
    'invalid-request',
    refusal(parsed.error, input, args, 'the arguments'),
    `Call \`${name}\` again with arguments as its input schema has them.`,
  )
}

export function resultOf({ text, data, links = [] }: ToolAnswer<object>): CallToolResult {
  return { content: [{ type: 'text', text }, ...linkBlocks(links)], structuredContent: plain(data) }
}

/** Models read it, so it says nothing twice: the dialect is that of the protocol, and a format says what its pattern does. */
function objectSchema(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const withoutPattern = (_key: string, value: unknown) => {
    if (!isRecord(value) || typeof value.format !== 'string' || typeof value.pattern !== 'string') return value
    const { pattern: _, ...rest } = value
    return rest
  }
  const { $schema: _, ...rest } = JSON.parse(JSON.stringify(jsonSchema(schema, io), withoutPattern))
  return rest
}

/** As it goes over the wire: without keys that have no value. */
function plain(data: object): Record<string, unknown> {
  const value: Record<string, unknown> = JSON.parse(JSON.stringify(data))
  return value
}
