import '../../lib/no-debugger.js'
import { pathToFileURL } from 'node:url'
import { toErrorMessage } from '../../lib/error-message.js'
import type { ChatItem, ContextOptions, LlamaModel, LlamaModule } from './llama-api.js'
import type {
  LlamaChatTurn,
  LlamaChildMessage,
  LlamaFault,
  LlamaParentMessage,
  LlamaReply,
  LlamaRequest,
  LlamaStart,
} from './llama-messages.js'

/** Tokens that a context adds to a text. */
const SPECIAL_TOKENS = 4
/** Upper bound of the tokens that a chat template adds to a turn. */
const TURN_TOKENS = 16
const DEFAULT_ANSWER_TOKENS = 1024

type LlamaChildRequest = LlamaRequest & { id: number }

/** A request in steps: an urgent one waits for a single text instead of a batch, and a canceled one ends soon. */
type LlamaWork = AsyncGenerator<undefined, LlamaReply>

class LlamaRequestError extends Error {
  readonly fault: LlamaFault

  constructor(fault: LlamaFault, reason: string) {
    super(reason)
    this.fault = fault
  }
}

interface LlamaJob {
  id: number
  isUrgent: boolean
  work: LlamaWork
  abort: AbortController
}

type LlamaWorker = (request: LlamaChildRequest, signal: AbortSignal) => LlamaWork

const jobs: LlamaJob[] = []
/** of unfinished requests, by id; also of those that wait for the model to load */
const abortsById = new Map<number, AbortController>()
let isWorking = false
/** the job whose step runs */
let current: LlamaJob | undefined

function send(message: LlamaChildMessage): void {
  process.send?.(message)
}

async function loadWorker({ entry, weights, task, contextTokens, threads }: LlamaStart): Promise<LlamaWorker> {
  const runtime: LlamaModule = await import(pathToFileURL(entry).href)
  const llama = await runtime.getLlama({
    // The build for Macs uses their graphics card.
    gpu: process.platform === 'darwin' && process.arch === 'arm64' ? 'auto' : false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: 'disabled',
    maxThreads: threads,
  })
  const model = await llama.loadModel({ modelPath: weights })
  const contextSize = Math.min(contextTokens, model.trainContextSize)
  const options = { contextSize, threads }
  const worker = await createWorker(task, runtime, model, options)
  send({
    type: 'ready',
    contextTokens: contextSize,
    dimension: task === 'embedding' ? model.embeddingVectorSize : undefined,
  })
  return worker
}

async function createWorker(
  task: LlamaStart['task'],
  runtime: LlamaModule,
  model: LlamaModel,
  options: ContextOptions,
): Promise<LlamaWorker> {
  const createWrongTaskError = () => new LlamaRequestError('failed', `the model is for ${task}`)
  const batchOptions = { ...options, batchSize: options.contextSize }
  if (task === 'embedding') {
    const context = await model.createEmbeddingContext(batchOptions)
    // A text without tokens has no vector.
    const tokenize = (text: string) => {
      const tokens = model.tokenize(text)
      return tokens.length > 0 ? tokens : model.tokenize('.')
    }
    return async function* (request) {
      if (request.op !== 'embed') throw createWrongTaskError()
      const vectors: Float32Array[] = []
      let tokens = 0
      for (const text of request.texts) {
        const input = tokenize(text).slice(0, options.contextSize - SPECIAL_TOKENS)
        tokens += input.length
        vectors.push(toUnitVector((await context.getEmbeddingFor(input)).vector))
        yield
      }
      return { op: 'embed', vectors, tokens }
    }
  }
  if (task === 'rerank') {
    const context = await model.createRankingContext(batchOptions)
    return async function* (request) {
      if (request.op !== 'rank') throw createWrongTaskError()
      const scores: number[] = []
      for (const document of request.documents) {
        scores.push(await context.rank(request.query, document, { onOverflow: 'maxChunk' }))
        yield
      }
      return { op: 'rank', scores }
    }
  }
  const sequence = (await model.createContext(options)).getSequence()
  return async function* (request, signal) {
    if (request.op !== 'chat') throw createWrongTaskError()
    const { turns, maxTokens, temperature, id } = request
    const { system, history, question } = toHistory(turns)
    const inputTokens = turns.reduce((sum, { content }) => sum + model.tokenize(content).length + TURN_TOKENS, 0)
    const maxAnswerTokens = options.contextSize - inputTokens
    if (maxAnswerTokens < Math.min(maxTokens ?? DEFAULT_ANSWER_TOKENS, options.contextSize / 4))
      throw new LlamaRequestError(
        'too-long',
        `${inputTokens} tokens exceed the context window of ${options.contextSize}`,
      )
    await sequence.clearHistory()
    yield
    const session = new runtime.LlamaChatSession({
      contextSequence: sequence,
      ...(system === undefined ? {} : { systemPrompt: system }),
    })
    try {
      if (history.length > 0) session.setChatHistory(history)
      const { responseText, stopReason } = await session.promptWithMeta(question, {
        signal,
        stopOnAbortSignal: true,
        onTextChunk: (text) => send({ type: 'delta', id, text }),
        maxTokens: Math.min(maxAnswerTokens, maxTokens ?? maxAnswerTokens),
        ...(temperature === undefined ? {} : { temperature }),
        // On processors alone, thoughts take longer than the answer.
        budgets: { thoughtTokens: 0 },
      })
      const outputTokens = model.tokenize(responseText).length
      return { op: 'chat', finishReason: stopReason === 'maxTokens' ? 'length' : 'stop', inputTokens, outputTokens }
    } finally {
      session.dispose({ disposeSequence: false })
    }
  }
}

/** Splits a conversation for the runtime: system prompt, history, and the last message of the user. */
function toHistory(turns: readonly LlamaChatTurn[]): {
  system: string | undefined
  history: ChatItem[]
  question: string
} {
  const lastUserIndex = turns.findLastIndex(({ role }) => role === 'user')
  const systems = turns.filter(({ role }) => role === 'system').map(({ content }) => content)
  const system = systems.length === 0 ? undefined : systems.join('\n\n')
  const items = turns.slice(0, Math.max(0, lastUserIndex)).flatMap(({ role, content }): ChatItem[] => {
    if (role === 'system') return []
    return [role === 'user' ? { type: 'user', text: content } : { type: 'model', response: [content] }]
  })
  const history: ChatItem[] =
    items.length === 0 || system === undefined ? items : [{ type: 'system', text: system }, ...items]
  return { system, history, question: turns[lastUserIndex]?.content ?? '' }
}

function toUnitVector(values: readonly number[]): Float32Array {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0))
  if (!Number.isFinite(length) || length === 0) throw new LlamaRequestError('failed', 'the model gave no usable vector')
  return Float32Array.from(values, (value) => value / length)
}

/** Runs the jobs step by step, urgent ones first. */
async function runJobs(): Promise<void> {
  if (isWorking) return
  isWorking = true
  for (let job = selectNextJob(); job !== undefined; job = selectNextJob()) {
    current = job
    try {
      const step = await job.work.next()
      if (step.done === true) {
        send({ type: 'done', id: job.id, reply: step.value })
        removeJob(job)
      }
    } catch (error) {
      const fault = error instanceof LlamaRequestError ? error.fault : 'failed'
      send({ type: 'failed', id: job.id, fault, reason: toErrorMessage(error) })
      removeJob(job)
    }
    current = undefined
    // Reads an arrived cancel before the next step.
    await new Promise((resolve) => setImmediate(resolve))
  }
  isWorking = false
}

/** Removes canceled jobs, also while a step of another one runs, for up to a minute. The running one ends by its signal. */
function removeCanceledJobs(): void {
  for (const job of jobs.filter((candidate) => candidate.abort.signal.aborted && candidate !== current)) {
    send({ type: 'failed', id: job.id, fault: 'failed', reason: 'canceled' })
    removeJob(job)
  }
}

function selectNextJob(): LlamaJob | undefined {
  removeCanceledJobs()
  return jobs.find(({ isUrgent }) => isUrgent) ?? jobs[0]
}

function removeJob(job: LlamaJob): void {
  abortsById.delete(job.id)
  const index = jobs.indexOf(job)
  if (index >= 0) jobs.splice(index, 1)
}

const loaded = loadWorker(JSON.parse(process.argv[2] ?? '')).catch((error: unknown) => {
  send({ type: 'unloadable', reason: toErrorMessage(error) })
  setImmediate(() => process.exit(1))
})

process.on('message', async (message: LlamaParentMessage) => {
  if (message.op === 'cancel') {
    abortsById.get(message.id)?.abort()
    removeCanceledJobs()
    return
  }
  const abort = new AbortController()
  abortsById.set(message.id, abort)
  const worker = await loaded
  if (worker === undefined) return
  const isUrgent = message.op !== 'embed' || message.urgent
  jobs.push({ id: message.id, isUrgent, work: worker(message, abort.signal), abort })
  removeCanceledJobs()
  await runJobs()
})
process.on('disconnect', () => process.exit(0))
