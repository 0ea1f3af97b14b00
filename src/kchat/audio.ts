import type { IncomingMessage } from 'node:http'
import { usageError } from '../cli/cli-error.js'
import { textOrStdin } from '../cli/stdin.js'
import { EXIT } from '../contract/errors.js'
import { defined } from '../lib/defined.js'
import { isRecord, textOf } from '../lib/json/values.js'
import { withChat } from './conversations.js'
import { saveBytes, sendFile } from './files.js'
import { idOf } from './ids.js'
import type { Common } from './options.js'
import { outputOf } from './output.js'
import { assertPlayer, play } from './player.js'
import type { ChatService } from './service.js'

/** `kchat transcribe FILE`: prints the spoken text. */
export async function transcribe(file: string, options: Common & { name?: string }): Promise<void> {
  await withChat(options, async (chat) => {
    const heard = await sendFile(chat, '/audio-to-text', file, options.name)
    const out = outputOf(options)
    if (out.isJson) out.json(heard)
    else out.line(isRecord(heard) ? (textOf(heard.text) ?? '') : '')
  })
}

/** `kchat speak TEXT` or `--message ID`: writes audio to `-o`, else plays it at a terminal or writes it to a pipe. */
export async function speak(
  text: string | undefined,
  options: Common & { message?: string; voice?: string; output?: string },
): Promise<void> {
  const { message, voice } = options
  if ((text === undefined) === (message === undefined))
    throw usageError('give either a text or --message ID to read aloud')
  const isHeard = options.output === undefined && process.stdout.isTTY === true
  if (isHeard) assertPlayer()
  const body = {
    ...(text === undefined
      ? { message_id: idOf('message', message ?? '') }
      : { text: await textOrStdin(text, 'the text') }),
    ...defined({ voice }),
  }
  await withChat(options, (chat) => {
    const open = () => audioOf(chat, body)
    return isHeard ? playToEnd(open) : saveBytes(open, options)
  })
}

/** Requests the audio of a text, or of the answer with `message_id`. */
export function audioOf(chat: ChatService, what: object): Promise<IncomingMessage> {
  return chat.open('POST', '/text-to-audio', { ...what, user: chat.user })
}

/**
 * Checks that answers of the application can be read aloud, before a message is sent.
 *
 * @returns a function that reads an answer aloud: to the file `output`, or with a player
 * @throws CliError exit 2 if the application has no text-to-speech, 9 without a player
 */
export async function voiceOf(
  chat: ChatService,
  options: Common & { output?: string },
): Promise<(messageId: string) => Promise<void>> {
  if (options.output === undefined) assertPlayer()
  const parameters = await chat.call('GET', `/parameters?user=${encodeURIComponent(chat.user)}`)
  const speech = isRecord(parameters) ? parameters.text_to_speech : undefined
  if (!isRecord(speech) || speech.enabled !== true)
    throw usageError(
      'text-to-speech of the application is disabled, or has no model',
      '`kchat apps update APP --text-to-speech` enables it',
    )
  return async (messageId) => {
    const open = () => audioOf(chat, { message_id: messageId })
    await (options.output === undefined ? playToEnd(open) : saveBytes(open, options))
  }
}

/** Plays audio to its end. Ctrl-C ends this process and the player. */
async function playToEnd(open: () => Promise<IncomingMessage>): Promise<void> {
  const leave = () => process.exit(EXIT.interrupted)
  process.on('SIGINT', leave)
  try {
    await play(await open())
  } finally {
    process.off('SIGINT', leave)
  }
}
