import { CliError, ExitWith } from '../cli/cli-error.js'
import { isObject, textOf } from '../cli/json-file.js'
import { textOrStdin } from '../cli/stdin.js'
import { tty } from '../cli/terminal.js'
import { serverEvents } from '../client/sse.js'
import { EXIT } from '../contract/errors.js'
import { print } from './output.js'
import { type ChatService, type Common, openChat } from './service.js'

export interface SendOptions extends Common {
  conversation?: string
  input?: string[]
  blocking?: boolean
  name?: boolean
}

interface Progress {
  answer: string
  taskId: string | undefined
  last: Record<string, unknown>
  interrupted: boolean
}

/** `kchat send`: one turn. The answer streams to stdout; Ctrl-C stops it and keeps what was said. */
export async function send(text: string, options: SendOptions): Promise<void> {
  const query = await textOrStdin(text, 'the message')
  const chat = await openChat(options)
  try {
    const body = {
      query,
      user: chat.user,
      inputs: inputsOf(options.input ?? []),
      conversation_id: await conversationOf(chat, options.conversation),
      auto_generate_name: options.name !== false,
      response_mode: options.blocking === true ? 'blocking' : 'streaming',
    }
    if (options.blocking === true) await sendBlocking(chat, body, options)
    else await sendStreaming(chat, body, options)
  } finally {
    chat.close()
  }
}

async function sendBlocking(chat: ChatService, body: object, { json }: SendOptions): Promise<void> {
  const done = await chat.call('POST', '/chat-messages', body)
  if (!isObject(done)) throw new CliError('the service answered without a message', { exit: EXIT.unavailable })
  if (json === true) return print(done)
  process.stdout.write(`${shown(textOf(done.answer) ?? '')}\n`)
  footer(done)
}

async function sendStreaming(chat: ChatService, body: object, options: SendOptions): Promise<void> {
  const response = await chat.open('POST', '/chat-messages', body)
  const progress: Progress = { answer: '', taskId: undefined, last: {}, interrupted: false }
  const onInterrupt = () => interrupt(chat, progress)
  process.on('SIGINT', onInterrupt)
  try {
    for await (const { data } of serverEvents(response)) take(progress, JSON.parse(data), options)
  } finally {
    process.off('SIGINT', onInterrupt)
  }
  const { last, answer } = progress
  if (last.event !== 'message_end')
    throw new CliError('the answer stopped early: the service closed the stream', { exit: EXIT.unavailable })
  if (options.json === true) {
    const { event: _, files: __, ...rest } = last
    print({ ...rest, answer })
  } else {
    process.stdout.write(answer.endsWith('\n') ? '' : '\n')
    footer(last)
  }
  if (progress.interrupted) throw new ExitWith(EXIT.interrupted)
}

function take(progress: Progress, event: unknown, { json }: SendOptions): void {
  if (!isObject(event)) return
  progress.taskId ??= textOf(event.task_id)
  progress.last = event
  if (event.event === 'message') {
    const text = textOf(event.answer) ?? ''
    progress.answer += text
    if (json !== true) process.stdout.write(shown(text))
  } else if (event.event === 'error')
    throw new CliError(`the answer failed: ${textOf(event.message) ?? 'no reason given'}`, {
      code: textOf(event.code) ?? 'answer-failed',
      exit: EXIT.unavailable,
    })
}

/** The first Ctrl-C asks the service to stop, so that its stream ends in order; the second leaves at once. */
function interrupt(chat: ChatService, progress: Progress): void {
  if (progress.interrupted || progress.taskId === undefined) process.exit(EXIT.interrupted)
  progress.interrupted = true
  chat.call('POST', `/chat-messages/${progress.taskId}/stop`, { user: chat.user }).catch(() => {
    process.exit(EXIT.interrupted)
  })
}

/** Control characters of an answer must not reach a terminal; a pipe gets the bytes as they are. */
function shown(text: string): string {
  return process.stdout.isTTY ? text.split('\n').map(tty).join('\n') : text
}

function footer(done: Record<string, unknown>): void {
  if (process.stderr.isTTY)
    process.stderr.write(`conversation ${textOf(done.conversation_id)} · message ${textOf(done.message_id)}\n`)
}

function inputsOf(words: string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      if (at < 1)
        throw new CliError(`--input must be key=value, received ${JSON.stringify(word)}`, { exit: EXIT.usage })
      return [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}

/** `new` (also when absent), `last`, or an id. */
async function conversationOf(chat: ChatService, word: string | undefined): Promise<string | undefined> {
  if (word === undefined || word === 'new') return undefined
  if (word !== 'last') return word
  const page = await chat.call('GET', `/conversations?limit=1&user=${encodeURIComponent(chat.user)}`)
  const [first]: unknown[] = isObject(page) && Array.isArray(page.data) ? page.data : []
  const id = isObject(first) ? textOf(first.id) : undefined
  if (id === undefined) throw new CliError('there is no conversation yet', { code: 'not-found', exit: EXIT.notFound })
  return id
}
