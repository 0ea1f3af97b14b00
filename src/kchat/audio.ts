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

/** `kchat transcribe FILE`: what is said in it. */
export async function transcribe(file: string, options: Common & { name?: string }): Promise<void> {
  await withChat(options, async (chat) => {
    const heard = await sendFile(chat, '/audio-to-text', file, options.name)
    const out = outputOf(options)
    if (out.isJson) out.json(heard)
    else out.line(isRecord(heard) ? (textOf(heard.text) ?? '') : '')
  })
}

/** `kchat speak TEXT` or `--message ID`: the audio goes to `-o`; without it a terminal hears it, and a pipe gets it. */
export async function speak(
  text: string | undefined,
  options: Common & { message?: string; voice?: string; output?: string },
): Promise<void> {
  const { message, voice } = options
  if ((text === undefined) === (message === undefined))
    throw usageError('either a text or --message ID says what to read aloud')
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

/** The audio of a text, or of the answer with `message_id`. */
export function audioOf(chat: ChatService, what: object): Promise<IncomingMessage> {
  return chat.open('POST', '/text-to-audio', { ...what, user: chat.user })
}

/**
 * Makes sure that answers of the application can be heard, before one is asked for.
 *
 * @returns what reads an answer aloud: into the file `output`, or with a player
 * @throws CliError exit 2 where the application does not speak, 9 without a player
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
      'the application does not read aloud: it is switched off, or there is no model for it',
      '`kchat apps update APP --text-to-speech` switches it on',
    )
  return async (messageId) => {
    const open = () => audioOf(chat, { message_id: messageId })
    await (options.output === undefined ? playToEnd(open) : saveBytes(open, options))
  }
}

/** Ctrl-C ends it, and the player with it. */
async function playToEnd(open: () => Promise<IncomingMessage>): Promise<void> {
  const leave = () => process.exit(EXIT.interrupted)
  process.on('SIGINT', leave)
  try {
    await play(await open())
  } finally {
    process.off('SIGINT', leave)
  }
}
