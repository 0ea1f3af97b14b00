import { CliError, ExitWith } from '../cli/cli-error.js'
import type { Output } from '../cli/output.js'
import { tty } from '../cli/terminal.js'
import { writeErr, writeOut } from '../cli/terminal-writer.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { AnswerPrinter, summarizeThought } from './answer-printer.js'
import type { KchatOptions } from './options.js'
import { type ChatService, openChat } from './service.js'
import { resolveCommandSettings } from './settings.js'
import { type AnswerSource, findCitedSources, formatSource, toSources } from './sources.js'
import { ClientTurn, findContinuedConversation, getDegradedReasons, type TurnListener } from './turn.js'

export interface SendMessageOptions extends KchatOptions {
  conversation?: string
  input?: string[]
  image?: string[]
  /** images and documents to upload and send */
  file?: string[]
  blocking?: boolean
  /** also print the model's thoughts */
  thoughts?: boolean
  /** print the sources on stdout, below the answer */
  sources?: boolean
  name?: boolean
  /** read the answer aloud: to the file `output`, or with a player */
  speak?: boolean
  output?: string
}

/** Sends one message. The answer streams to stdout; Ctrl-C stops it and keeps its text so far. */
export async function sendMessage(text: string, options: SendMessageOptions): Promise<void> {
  const out = await createTurnOutput(options)
  const stdinCount = [text, ...(options.image ?? []), ...(options.file ?? [])].filter((value) => value === '-').length
  if (stdinCount > 1)
    throw new CliError('only one of the message and its files can be read from stdin', { exit: EXIT.usage })
  const query = text === '-' ? await (await import('../cli/stdin.js')).readTextOrStdin('-', 'the message') : text
  const inputs = parseInputs(options.input ?? [])
  const chat = await openChat(options)
  try {
    const readsAloud = options.speak === true || options.output !== undefined
    const readAloud = readsAloud ? await (await import('./audio.js')).prepareSpeech(chat, options) : undefined
    const body = {
      query,
      inputs,
      conversation_id: await findContinuedConversation(chat, options.conversation),
      auto_generate_name: options.name !== false,
      ...(await toFileFields(chat, options)),
    }
    const messageId = await (options.blocking === true
      ? sendBlocking(chat, body, out, options)
      : sendStreaming(chat, body, out, options))
    if (messageId !== undefined) await readAloud?.(messageId)
  } finally {
    chat.close()
  }
}

/** The output of a turn. In a pipe without a format, it prints only the answer. */
type TurnOutput = Pick<
  Output,
  'format' | 'isJson' | 'isErrTerminal' | 'prose' | 'endProse' | 'raw' | 'json' | 'event' | 'note'
>

/**
 * Creates the output of a turn. Formats and terminal support are loaded only if needed: half of the calls are in pipes
 * and must answer at once.
 */
async function createTurnOutput(options: KchatOptions): Promise<TurnOutput> {
  const { stdout, stderr } = process
  const hasFormat = options.json === true || (options.format ?? resolveCommandSettings(options).format) !== undefined
  if (hasFormat || options.fields !== undefined || stdout.isTTY || stderr.isTTY)
    return (await import('./output.js')).createOutput(options)
  const write = (text: string) => void writeOut(text)
  const ignore = () => undefined
  const note = (text: string) => void writeErr(`${tty(text)}\n`)
  return {
    format: 'tsv',
    isJson: false,
    isErrTerminal: false,
    prose: write,
    endProse: ignore,
    raw: write,
    json: ignore,
    event: ignore,
    note: options.quiet === true ? ignore : note,
  }
}

/** Sends a message and prints its complete answer. @returns the id of the message, to read it aloud */
async function sendBlocking(
  chat: ChatService,
  body: object,
  out: TurnOutput,
  { thoughts = false, sources = false }: SendMessageOptions,
): Promise<string | undefined> {
  const reply = await chat.call('POST', '/chat-messages', { ...body, user: chat.user, response_mode: 'blocking' })
  if (!isRecord(reply)) throw new CliError('the service answered without a message', { exit: EXIT.unavailable })
  const answer = toNonEmptyString(reply.answer) ?? ''
  if (out.isJson) out.json(reply)
  else {
    const printer = new AnswerPrinter((text) => out.prose(text), { showsThoughts: thoughts })
    printer.add(answer)
    printer.end()
    printSources(out, printer, toSources(reply), { onStdout: sources })
    out.endProse()
    printFooter(out, printer, reply)
  }
  return toNonEmptyString(reply.message_id)
}

/** Makes a listener that prints a turn while it streams, or its events for programs. */
export function createPrintingListener(out: TurnOutput, printer: AnswerPrinter): TurnListener {
  return {
    onText: (text) => {
      if (!out.isJson) printer.add(text)
    },
    onReplace: (answer) => {
      if (!out.isJson) printer.replace(answer)
    },
    onEvent: (name, event) => {
      if (out.format === 'jsonl') out.event(name, event)
    },
  }
}

/** Sends a message and prints its answer while it streams. @returns the id of the message, to read it aloud */
async function sendStreaming(
  chat: ChatService,
  body: object,
  out: TurnOutput,
  { thoughts = false, sources: onStdout = false }: SendMessageOptions,
): Promise<string | undefined> {
  const turn = new ClientTurn(chat)
  const onInterrupt = () => handleInterrupt(turn)
  process.on('SIGINT', onInterrupt)
  const printer = new AnswerPrinter((text) => out.prose(text), { showsThoughts: thoughts })
  try {
    const { answer, sources, lastEvent, messageId } = await turn.run(body, createPrintingListener(out, printer))
    if (out.format === 'json') {
      const { event: _, files: __, ...rest } = lastEvent
      out.json({ ...rest, answer })
    } else if (!out.isJson) {
      printer.end()
      printSources(out, printer, sources, { onStdout })
      out.endProse()
      printFooter(out, printer, lastEvent)
    }
    if (!turn.isStopping) return messageId
  } catch (error) {
    out.endProse()
    if (printer.printed !== '') out.raw('\n')
    throw error
  } finally {
    process.off('SIGINT', onInterrupt)
  }
  throw new ExitWith(EXIT.interrupted)
}

/** Handles Ctrl-C: the first requests a stop from the service; the second exits at once. */
export function handleInterrupt(turn: ClientTurn): void {
  if (turn.isStopping || !turn.isRunning) process.exit(EXIT.interrupted)
  turn.stop().catch(() => process.exit(EXIT.interrupted))
}

/** Prints the passages that an answer cites, one a line: on stderr, or on stdout below the answer. */
export function printSources(
  out: Pick<TurnOutput, 'prose' | 'note'>,
  { printed }: AnswerPrinter,
  sources: readonly AnswerSource[],
  { onStdout }: { onStdout: boolean },
): void {
  for (const source of findCitedSources(printed, sources)) {
    const line = `  ${formatSource(source)}`
    if (onStdout) out.prose(`${line}\n`)
    else out.note(line)
  }
}

/** Prints what was missing, and for a person the thoughts and ids. */
function printFooter(out: TurnOutput, { thought }: AnswerPrinter, reply: Record<string, unknown>): void {
  for (const reason of getDegradedReasons(reply)) out.note(`degraded: ${reason}`)
  if (!out.isErrTerminal) return
  const thoughtSummary = summarizeThought(thought)
  if (thoughtSummary !== undefined) out.note(thoughtSummary)
  out.note(`conversation ${toNonEmptyString(reply.conversation_id)} · message ${toNonEmptyString(reply.message_id)}`)
}

/** Parses the values of `--input` to values by variable. @throws CliError exit 2 */
export function parseInputs(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const separatorIndex = pair.indexOf('=')
      if (separatorIndex < 1)
        throw new CliError(`--input must be key=value, received ${JSON.stringify(pair)}`, { exit: EXIT.usage })
      return [pair.slice(0, separatorIndex), pair.slice(separatorIndex + 1)]
    }),
  )
}

/** Uploads the files of a message. */
async function toFileFields(
  chat: ChatService,
  { image: images = [], file: files = [] }: SendMessageOptions,
): Promise<{ files?: object[] }> {
  if (images.length + files.length === 0) return {}
  const { toFileInput, toImageInput } = await import('./files.js')
  const inputs: object[] = []
  for (const fileOrUrl of images) inputs.push(await toImageInput(chat, fileOrUrl))
  for (const file of files) inputs.push(await toFileInput(chat, file))
  return { files: inputs }
}
