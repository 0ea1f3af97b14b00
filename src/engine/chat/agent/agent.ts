import { ChatError } from '../../../contract/chat/errors.js'
import type { AgentThought } from '../../../contract/chat/messages.js'
import { newId } from '../../../lib/ids.js'
import { withoutThoughts } from '../../../lib/text/thoughts.js'
import type { EngineContext } from '../../context.js'
import type { ChatMessage, Generator, ToolCall, ToolSpec } from '../../models/types.js'
import { streamedWithinWindow } from '../../models/window.js'
import { findSpace, type SpaceRow } from '../../rows/spaces.js'
import type { Read } from '../../storage/program.js'
import { type AnswerPiece, type Asked, chatModel, promptOf, settingsOf } from '../answer.js'
import { billingAccount } from '../billing-account.js'
import { fitSteps, tokensOf, tokensOfTools } from './fit-steps.js'
import { type AgentShared, AgentTools, argumentsOf } from './tools.js'

/** Maximum number of steps in a turn; the last one has no tools, so that it must answer. */
const MAX_STEPS = 5
/** Fraction of the free context that the results of one step may take, so that later steps fit. */
const RESULTS_SHARE = 0.5

/**
 * Runs an agent turn step by step. Each step yields an empty thought, the text of the model, the thought with the tools
 * to call, and the thought with their results. The turn ends with the first step without tool calls.
 *
 * @throws ChatError `provider_not_initialize`; KsError of the model
 */
export async function* agentTurn(
  context: EngineContext,
  shared: AgentShared,
  asked: Asked,
  signal: AbortSignal,
): AsyncGenerator<AnswerPiece> {
  const model = chatModel(context, asked.app)
  if (model === undefined) throw new ChatError('provider_not_initialize', 'the agent has no model it could use')
  const generator = context.models.generator(
    model,
    await context.db.read(billingAccount(context, asked.caller.tenant, asked.app)),
  )
  const tools = new AgentTools(context, shared, asked, await context.db.read(spacesOf(asked)))
  const specs = tools.specs()
  const talk: Talk = { asked, generator, rules: tools.rules(), steps: [], window: generator.contextTokens }
  for (let position = 1; position <= MAX_STEPS; position++) {
    const offered = position < MAX_STEPS ? specs : []
    const thought = emptyThought(asked.messageId, position)
    yield { type: 'thought', thought }
    const { text, calls } = yield* say(talk, { offered, first: position === 1 }, signal)
    const thinking = {
      ...thought,
      thought: text,
      tool: namesOf(calls),
      tool_input: calls.length === 0 ? '' : byName(calls, inputOf),
    }
    yield { type: 'thought', thought: thinking }
    if (calls.length === 0) return
    talk.steps.push({ role: 'assistant', content: withoutThoughts(text), toolCalls: calls })
    const results = new Map<ToolCall, string>()
    const room = Math.floor((roomOf(talk, specs) * RESULTS_SHARE) / calls.length)
    for (const call of calls) results.set(call, await tools.run(call, room, signal))
    yield { type: 'resources', resources: [...tools.resources] }
    yield { type: 'degraded', degraded: tools.degraded }
    const observation = byName(calls, (call) => results.get(call) ?? '')
    yield { type: 'thought', thought: { ...thinking, observation } }
    for (const [call, content] of results) talk.steps.push({ role: 'tool', content, toolCallId: call.id })
  }
}

/** State of a running agent turn. */
interface Talk {
  asked: Asked
  generator: Generator
  rules: string
  /** Messages after the question: text of the model and tool results. */
  steps: ChatMessage[]
  /** Context window of the model in tokens; reduced when the provider reports a smaller one. */
  window: number
}

interface Step {
  offered: ToolSpec[]
  first: boolean
}

/** Free tokens of the window for tool results. */
function roomOf({ asked, rules, steps, window }: Talk, specs: readonly ToolSpec[]): number {
  return promptOf(asked, rules, window).room - tokensOfTools(specs) - tokensOf(steps)
}

/** One call of the model: yields text as it arrives and returns the tool calls. */
async function* say(
  talk: Talk,
  { offered, first }: Step,
  signal: AbortSignal,
): AsyncGenerator<AnswerPiece, { text: string; calls: ToolCall[] }> {
  const events = streamedWithinWindow(talk.window, (window) => {
    talk.window = window
    const { messages, maxTokens, room } = promptOf(talk.asked, talk.rules, window)
    const steps = fitSteps(talk.steps, room - tokensOfTools(offered))
    const options = { ...settingsOf(talk.asked), maxTokens, tools: offered, signal }
    return talk.generator.generate([...messages, ...steps], options)
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

function emptyThought(messageId: string, position: number): AgentThought {
  const created_at = Math.floor(Date.now() / 1000)
  const empty = { thought: '', tool: '', tool_input: '', observation: '', files: [] }
  return { id: newId(), message_id: messageId, position, ...empty, created_at }
}

function namesOf(calls: ToolCall[]): string {
  return [...new Set(calls.map(({ name }) => name))].join(';')
}

function inputOf(call: ToolCall): unknown {
  try {
    return argumentsOf(call)
  } catch {
    return call.arguments
  }
}

/** JSON text of an object keyed by tool; a tool that was called several times has a list. */
function byName(calls: ToolCall[], of: (call: ToolCall) => unknown): string {
  const values = new Map<string, unknown[]>()
  for (const call of calls) values.set(call.name, [...(values.get(call.name) ?? []), of(call)])
  return JSON.stringify(
    Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list])),
  )
}

/**
 * The spaces that an agent may read.
 * @throws KsError `not-found`
 */
function* spacesOf({ caller, spaceIds }: Asked): Read<SpaceRow[]> {
  const spaces: SpaceRow[] = []
  for (const id of spaceIds) spaces.push(yield* findSpace(caller.tenant, id))
  return spaces
}
