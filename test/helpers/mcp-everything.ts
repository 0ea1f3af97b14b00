import { type CallToolResult, McpServer, ResourceTemplate, type Server } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** The tools, resources and prompts that the conformance suite expects by name, on our sessions and transport. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' }
const text = (value: string) => ({ type: 'text' as const, text: value })
const answer = (...content: CallToolResult['content']): CallToolResult => ({ content })
const resource = (uri: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: value },
})

export function createEverythingServer(): Server {
  const mcp = new McpServer(
    { name: 'everything', version: '1' },
    { capabilities: { logging: {}, resources: { subscribe: true } } },
  )
  addTools(mcp)
  addClientRequests(mcp)
  addResources(mcp)
  addPrompts(mcp)
  mcp.server.setRequestHandler('resources/subscribe', () => ({}))
  mcp.server.setRequestHandler('resources/unsubscribe', () => ({}))
  return mcp.server
}

function addTools(mcp: McpServer): void {
  const results: Record<string, CallToolResult> = {
    test_simple_text: answer(text('This is a simple text response for testing.')),
    test_image_content: answer(image),
    test_audio_content: answer({ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }),
    test_embedded_resource: answer(resource('test://embedded-resource', 'This is an embedded resource content.')),
    test_multiple_content_types: answer(
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', '{"test":"data","value":123}'),
    ),
    test_error_handling: { isError: true, ...answer(text('This tool intentionally returns an error for testing')) },
  }
  for (const [name, result] of Object.entries(results)) mcp.registerTool(name, { description: name }, () => result)
  mcp.registerTool('test_tool_with_logging', { description: 'logs' }, async ({ mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
    return answer(text('done'))
  })
  mcp.registerTool('test_tool_with_progress', { description: 'tells its progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    for (const progress of [0, 50, 100])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    return answer(text('done'))
  })
}

/** Tools that send requests to the client while they run. */
function addClientRequests(mcp: McpServer): void {
  mcp.registerTool(
    'test_sampling',
    { description: 'asks the model', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const params = { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 }
      const message = await mcpReq.send({ method: 'sampling/createMessage', params })
      return answer(text(`LLM response: ${JSON.stringify(message.content)}`))
    },
  )
  const elicit = (name: string, properties: object, required: string[] = []) =>
    mcp.registerTool(
      name,
      { description: name, inputSchema: z.object({ message: z.string().optional() }) },
      async ({ message = 'Please fill in' }, { mcpReq }) => {
        const params = { mode: 'form', message, requestedSchema: { type: 'object', properties, required } }
        const { action, content } = await mcpReq.send({ method: 'elicitation/create', params })
        return answer(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`))
      },
    )
  elicit('test_elicitation', { username: { type: 'string' }, email: { type: 'string' } }, ['username', 'email'])
  elicit('test_elicitation_sep1034_defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  })
  const options = ['option1', 'option2', 'option3']
  const titled = ['value1', 'value2', 'value3'].map((value, at) => ({ const: value, title: `Title ${at + 1}` }))
  elicit('test_elicitation_sep1330_enums', {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  })
}

function addResources(mcp: McpServer): void {
  const fixed = (uri: string, contents: object) =>
    mcp.registerResource(uri, uri, {}, () => ({ contents: [{ uri, text: '', ...contents }] }))
  fixed('test://static-text', { mimeType: 'text/plain', text: 'This is the content of the static text resource.' })
  fixed('test://watched-resource', { mimeType: 'text/plain', text: 'watched' })
  mcp.registerResource('binary', 'test://static-binary', {}, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: PIXEL }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  mcp.registerResource('template', template, {}, ({ href: uri }, { id }) => ({
    contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, data: `Data for ID: ${String(id)}` }) }],
  }))
}

function addPrompts(mcp: McpServer): void {
  const toPrompt = (...content: (ReturnType<typeof text> | ReturnType<typeof resource> | typeof image)[]) => ({
    messages: content.map((one) => ({ role: 'user' as const, content: one })),
  })
  mcp.registerPrompt('test_simple_prompt', { description: 'simple' }, () => toPrompt(text('This is a simple prompt.')))
  mcp.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'arguments', argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => toPrompt(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  mcp.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => toPrompt(resource(resourceUri, 'Embedded resource content.'), text('Process the resource.')),
  )
  mcp.registerPrompt('test_prompt_with_image', { description: 'image' }, () =>
    toPrompt(image, text('Analyze the image.')),
  )
}
