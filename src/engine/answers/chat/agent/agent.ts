import { ChatError } from '../../../../contract/chat/errors.js'
import type { AgentThought } from '../../../../contract/chat/messages.js'
import { newId } from '../../../../lib/ids.js'
import { stripThoughts } from '../../../../lib/text/thoughts.js'
import {
  type ChatMessage,
  type Generator,
  streamWithinWindow,
  type ToolCall,
  type ToolSpec,
} from '../../../models/index.js'
import type { Read } from '../../../store/program.js'
import { findSpace, type SpaceRow } from '../../../store/rows/spaces.js'
import { buildChatPrompt, type ChatAnswerEvent, type ChatQuestion, getChatModel, getModelSettings } from '../answer.js'
import { getBillingAccount } from '../billing-account.js'
import { countMessageTokens, countToolTokens, fitSteps } from './fit-steps.js'
import { type AgentServices, AgentTools, parseToolArguments } from './tools.js'

/** Maximum number of steps in a turn; the last one has no tools, so that it must answer. */
const MAX_STEPS = 5
/** Fraction of the free context that the results of one step may take, so that later steps fit. */
const RESULTS_FRACTION = 0.5

/**
 * Runs an agent turn step by step. Each step yields an empty thought, the text of the model, the thought with the tools
 * to call, and the thought with their results. The turn ends with the first step without tool calls.
 *
 * @throws ChatError `provider_not_initialize`; KsError of the model
 */
export async function* runAgent(
  services: AgentServices,
  question: ChatQuestion,
  signal: AbortSignal,
): AsyncGenerator<ChatAnswerEvent> {
  const { context } = services
  const model = getChatModel(context, question.app)
  if (model === undefined) throw new ChatError('provider_not_initialize', 'the agent has no model it could use')
  const generator = context.models.generator(
    model,
    await context.db.read(getBillingAccount(context, question.caller.tenant, question.app)),
  )
  const tools = new AgentTools(services, question, await context.db.read(findSpaces(question)))
  const specs = tools.specs()
  const run: AgentRun = { question, generator, rules: tools.rules(), steps: [], window: generator.contextTokens }
  for (let position = 1; position <= MAX_STEPS; position++) {
    const offered = position < MAX_STEPS ? specs : []
    const thought = createThought(question.messageId, position, context.now())
    yield { type: 'thought', thought }
    const { text, calls } = yield* generateStep(run, { offered, first: position === 1 }, signal)
    const thinking = {
      ...thought,
      thought: text,
      tool: [...new Set(calls.map(({ name }) => name))].join(';'),
      tool_input: calls.length === 0 ? '' : toJsonByTool(calls, parseInput),
    }
    yield { type: 'thought', thought: thinking }
    if (calls.length === 0) return
    run.steps.push({ role: 'assistant', content: stripThoughts(text), toolCalls: calls })
    const results = new Map<ToolCall, string>()
    const resultTokens = Math.floor((countFreeTokens(run, specs) * RESULTS_FRACTION) / calls.length)
    for (const call of calls) results.set(call, await tools.run(call, resultTokens, signal))
    yield { type: 'resources', resources: [...tools.resources] }
    yield { type: 'degraded', degraded: tools.degraded }
    const observation = toJsonByTool(calls, (call) => results.get(call) ?? '')
    yield { type: 'thought', thought: { ...thinking, observation } }
    for (const [call, content] of results) run.steps.push({ role: 'tool', content, toolCallId: call.id })
  }
}

/** State of a running agent turn. */
interface AgentRun {
  question: ChatQuestion
  generator: Generator
  rules: string
  /** Messages after the question: text of the model and tool results. */
  steps: ChatMessage[]
  /** Context window of the model in tokens; reduced when the provider reports a smaller one. */
  window: number
}

interface AgentStep {
  offered: ToolSpec[]
  first: boolean
}

/** Free tokens of the window for tool results. */
function countFreeTokens({ question, rules, steps, window }: AgentRun, specs: readonly ToolSpec[]): number {
  return buildChatPrompt(question, rules, window).freeTokens - countToolTokens(specs) - countMessageTokens(steps)
}

/** One call of the model: yields text as it arrives and returns the tool calls. */
async function* generateStep(
  run: AgentRun,
  { offered, first }: AgentStep,
  signal: AbortSignal,
): AsyncGenerator<ChatAnswerEvent, { text: string; calls: ToolCall[] }> {
  const events = streamWithinWindow(run.window, (window) => {
    run.window = window
    const { messages, maxTokens, freeTokens } = buildChatPrompt(run.question, run.rules, window)
    const steps = fitSteps(run.steps, freeTokens - countToolTokens(offered))
    const options = { ...getModelSettings(run.question), maxTokens, tools: offered, signal }
    return run.generator.generate([...messages, ...steps], options)
  })
  let text = ''
  let calls: ToolCall[] = []
  for await (const event of events) {
    if (event.type === 'delta') {
      // Each step is a paragraph of the answer.
      if (text === '' && !first) yield { type: 'delta', text: '\n\n', agent: true }
      text += event.text
      yield { type: 'delta', text: event.text, agent: true }
    } else {
      // Some servers call tools that were not offered.
      if (offered.length > 0) calls = event.toolCalls ?? []
    }
  }
  return { text, calls }
}

function createThought(messageId: string, position: number, now: number): AgentThought {
  const created_at = Math.floor(now / 1000)
  const empty = { thought: '', tool: '', tool_input: '', observation: '', files: [] }
  return { id: newId(), message_id: messageId, position, ...empty, created_at }
}

function parseInput(call: ToolCall): unknown {
  try {
    return parseToolArguments(call)
  } catch {
    return call.arguments
  }
}

/** JSON text of an object keyed by tool; a tool that was called several times has a list. */
function toJsonByTool(calls: ToolCall[], getValue: (call: ToolCall) => unknown): string {
  const values = new Map<string, unknown[]>()
  for (const call of calls) values.set(call.name, [...(values.get(call.name) ?? []), getValue(call)])
  return JSON.stringify(
    Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list])),
  )
}

/**
 * The spaces that an agent may read.
 * @throws KsError `not-found`
 */
function* findSpaces({ caller, spaceIds }: ChatQuestion): Read<SpaceRow[]> {
  const spaces: SpaceRow[] = []
  for (const id of spaceIds) spaces.push(yield* findSpace(caller.tenant, id))
  return spaces
}
