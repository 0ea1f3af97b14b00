import { usageError } from '../cli/cli-error.js'
import { isObject, textOf } from '../cli/json-file.js'
import { textOrStdin } from '../cli/stdin.js'
import { withChat } from './conversations.js'
import { saveBytes, sendFile } from './files.js'
import type { Common } from './options.js'
import { outputOf } from './output.js'

/** `kchat transcribe FILE`: what is said in it. */
export async function transcribe(file: string, options: Common): Promise<void> {
  await withChat(options, async (chat) => {
    const heard = await sendFile(chat, '/audio-to-text', file)
    const out = outputOf(options)
    if (out.isJson) out.json(heard)
    else out.line(isObject(heard) ? (textOf(heard.text) ?? '') : '')
  })
}

/** `kchat speak TEXT` or `--message ID`: the audio goes to `-o`, or to stdout when it is no terminal. */
export async function speak(
  text: string | undefined,
  options: Common & { message?: string; voice?: string; output?: string },
): Promise<void> {
  const { message, voice } = options
  if ((text === undefined) === (message === undefined))
    throw usageError('either a text or --message ID says what to read aloud')
  const body = {
    ...(text === undefined ? { message_id: message } : { text: await textOrStdin(text, 'the text') }),
    ...(voice === undefined ? {} : { voice }),
  }
  await withChat(options, (chat) =>
    saveBytes(() => chat.open('POST', '/text-to-audio', { ...body, user: chat.user }), options),
  )
}
