import { CliError, ExitWith } from '../cli/cli-error.js'
import type { Output } from '../cli/output.js'
import { writeOut } from '../cli/terminal-writer.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, textOf } from '../lib/json/values.js'
import { AnswerPrinter, foldedThought } from './answer-printer.js'
import type { Common } from './options.js'
import { type ChatService, openChat } from './service.js'
import { settingsOf } from './settings.js'
import { citedBy, conversationNamed, degradedReasons, type Source, sourcesOf, Turn, type TurnListener } from './turn.js'

export interface SendMessageOptions extends Common {
  conversation?: string
  input?: string[]
  image?: string[]
  blocking?: boolean
  /** also print the model's thoughts */
  thoughts?: boolean
  name?: boolean
  /** read the answer aloud: to the file `output`, or with a player */
  speak?: boolean
  output?: string
}

/** `kchat send`: one turn. The answer streams to stdout; Ctrl-C stops it and keeps its text so far. */
export async function send(text: string, options: SendMessageOptions): Promise<void> {
  const out = await outputFor(options)
  if (text === '-' && options.image?.includes('-') === true)
    throw new CliError('only one of the message and the image can be read from stdin', { exit: EXIT.usage })
  const query = text === '-' ? await readMessage() : text
  const inputs = inputsOf(options.input ?? [])
  const chat = await openChat(options)
  try {
    const aloud = options.speak === true || options.output !== undefined
    const voice = aloud ? await (await import('./audio.js')).voiceOf(chat, options) : undefined
    const body = {
      query,
      inputs,
      conversation_id: await conversationNamed(chat, options.conversation),
      auto_generate_name: options.name !== false,
      ...(options.image === undefined ? {} : { files: await imagesOf(chat, options.image) }),
    }
    const message = await (options.blocking === true
      ? sendBlocking(chat, body, out, options)
      : sendStreaming(chat, body, out, options))
    if (message !== undefined) await voice?.(message)
  } finally {
    chat.close()
  }
}

/** The output of a turn. In a pipe without a format, it prints only the answer. */
type Said = Pick<
  Output,
  'format' | 'isJson' | 'isErrTerminal' | 'prose' | 'endProse' | 'raw' | 'json' | 'event' | 'note'
>

/** Formats and terminal support are loaded only if needed: half of the calls are in pipes and must answer at once. */
async function outputFor(options: Common): Promise<Said> {
  const { stdout, stderr } = process
  const isAsked = options.json === true || (options.format ?? settingsOf(options).format) !== undefined
  if (isAsked || options.fields !== undefined || stdout.isTTY || stderr.isTTY)
    return (await import('./output.js')).outputOf(options)
  const write = (text: string) => void writeOut(text)
  const nothing = () => undefined
  return {
    format: 'tsv',
    isJson: false,
    isErrTerminal: false,
    prose: write,
    endProse: nothing,
    raw: write,
    json: nothing,
    event: nothing,
    note: nothing,
  }
}

async function readMessage(): Promise<string> {
  return (await import('../cli/stdin.js')).textOrStdin('-', 'the message')
}

/** @returns the id of the message, to read it aloud */
async function sendBlocking(
  chat: ChatService,
  body: object,
  out: Said,
  { thoughts = false }: SendMessageOptions,
): Promise<string | undefined> {
  const done = await chat.call('POST', '/chat-messages', { ...body, user: chat.user, response_mode: 'blocking' })
  if (!isRecord(done)) throw new CliError('the service answered without a message', { exit: EXIT.unavailable })
  const answer = textOf(done.answer) ?? ''
  if (out.isJson) out.json(done)
  else {
    const spoken = new AnswerPrinter((text) => out.prose(text), thoughts)
    spoken.add(answer)
    spoken.end()
    out.endProse()
    footer(out, spoken, sourcesOf(done), done)
  }
  return textOf(done.message_id)
}

/** Prints a turn while it streams, or its events for programs. */
export function printingListener(out: Said, spoken: AnswerPrinter): TurnListener {
  return {
    onText: (text) => {
      if (!out.isJson) spoken.add(text)
    },
    onReplace: (whole) => {
      if (!out.isJson) spoken.replace(whole)
    },
    onEvent: (name, event) => {
      if (out.format === 'jsonl') out.event(name, event)
    },
  }
}

async function sendStreaming(
  chat: ChatService,
  body: object,
  out: Said,
  { thoughts = false }: SendMessageOptions,
): Promise<string | undefined> {
  const turn = new Turn(chat)
  const onInterrupt = () => interrupt(turn)
  process.on('SIGINT', onInterrupt)
  const spoken = new AnswerPrinter((text) => out.prose(text), thoughts)
  let message: string | undefined
  try {
    const { answer, sources, end, messageId } = await turn.run(body, printingListener(out, spoken))
    if (out.format === 'json') {
      const { event: _, files: __, ...rest } = end
      out.json({ ...rest, answer })
    } else if (!out.isJson) {
      spoken.end()
      out.endProse()
      footer(out, spoken, sources, end)
    }
    message = messageId
  } catch (error) {
    out.endProse()
    if (spoken.shown !== '') out.raw('\n')
    throw error
  } finally {
    process.off('SIGINT', onInterrupt)
  }
  if (turn.isStopping) throw new ExitWith(EXIT.interrupted)
  return message
}

/** The first Ctrl-C requests a stop from the service; the second exits at once. */
export function interrupt(turn: Turn): void {
  if (turn.isStopping || !turn.isRunning) process.exit(EXIT.interrupted)
  turn.stop().catch(() => process.exit(EXIT.interrupted))
}

/** Prints information in addition to the answer, except in a pipe. */
function footer(
  out: Said,
  { shown, thought }: AnswerPrinter,
  sources: readonly Source[],
  done: Record<string, unknown>,
): void {
  for (const reason of degradedReasons(done)) out.note(`degraded: ${reason}`)
  if (!out.isErrTerminal) return
  const folded = foldedThought(thought)
  if (folded !== undefined) out.note(folded)
  for (const { position, name, address } of citedBy(shown, sources))
    out.note(`  [${position}] ${name}${address === undefined ? '' : ` ${address}`}`)
  out.note(`conversation ${textOf(done.conversation_id)} · message ${textOf(done.message_id)}`)
}

export function inputsOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      if (at < 1)
        throw new CliError(`--input must be key=value, received ${JSON.stringify(word)}`, { exit: EXIT.usage })
      return [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}

async function imagesOf(chat: ChatService, words: readonly string[]): Promise<object[]> {
  const { imageInput } = await import('./files.js')
  const images: object[] = []
  for (const word of words) images.push(await imageInput(chat, word))
  return images
}
