import type { IncomingMessage } from 'node:http'
import { usageError } from '../cli/cli-error.js'
import { readTextOrStdin } from '../cli/stdin.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { saveBytes, uploadFile } from './files.js'
import { resolveTypedId } from './ids.js'
import type { KchatOptions } from './options.js'
import { createOutput } from './output.js'
import { assertPlayer, playAudio } from './player.js'
import { type ChatService, withChat } from './service.js'

/** Prints the text that is spoken in an audio file. */
export async function transcribe(file: string, options: KchatOptions & { name?: string }): Promise<void> {
  await withChat(options, async (chat) => {
    const transcript = await uploadFile(chat, '/audio-to-text', file, options.name)
    const out = createOutput(options)
    if (out.isJson) out.json(transcript)
    else out.line(isRecord(transcript) ? (toNonEmptyString(transcript.text) ?? '') : '')
  })
}

/** Reads a text or an answer aloud: writes audio to `-o`, else plays it at a terminal or writes it to a pipe. */
export async function speak(
  text: string | undefined,
  options: KchatOptions & { message?: string; voice?: string; output?: string },
): Promise<void> {
  const { message, voice } = options
  if ((text === undefined) === (message === undefined))
    throw usageError('give either a text or --message ID to read aloud')
  const isPlayed = options.output === undefined && process.stdout.isTTY === true
  if (isPlayed) assertPlayer()
  const body = {
    ...(text === undefined
      ? { message_id: resolveTypedId('message', message ?? '') }
      : { text: await readTextOrStdin(text, 'the text') }),
    ...omitUndefined({ voice }),
  }
  await withChat(options, (chat) => {
    const openBody = () => openAudio(chat, body)
    return isPlayed ? playToEnd(openBody) : saveBytes(openBody, options)
  })
}

/** Requests the audio of a text, or of the answer with `message_id`. */
export function openAudio(chat: ChatService, source: object): Promise<IncomingMessage> {
  return chat.open('POST', '/text-to-audio', { ...source, user: chat.user })
}

/**
 * Checks that answers of the application can be read aloud, before a message is sent.
 *
 * @returns a function that reads an answer aloud: to the file `output`, or with a player
 * @throws CliError exit 2 if the application has no text-to-speech, 9 without a player
 */
export async function prepareSpeech(
  chat: ChatService,
  options: KchatOptions & { output?: string },
): Promise<(messageId: string) => Promise<void>> {
  if (options.output === undefined) assertPlayer()
  const parameters = await chat.call('GET', `/parameters?user=${chat.encodedUser}`)
  const speech = isRecord(parameters) ? parameters.text_to_speech : undefined
  if (!isRecord(speech) || speech.enabled !== true)
    throw usageError(
      'text-to-speech of the application is disabled, or has no model',
      '`kchat apps update APP --text-to-speech` enables it',
    )
  return async (messageId) => {
    const openBody = () => openAudio(chat, { message_id: messageId })
    await (options.output === undefined ? playToEnd(openBody) : saveBytes(openBody, options))
  }
}

/** Plays audio to its end. Ctrl-C ends this process and the player. */
async function playToEnd(openBody: () => Promise<IncomingMessage>): Promise<void> {
  const exit = () => process.exit(EXIT.interrupted)
  process.on('SIGINT', exit)
  try {
    await playAudio(await openBody())
  } finally {
    process.off('SIGINT', exit)
  }
}
