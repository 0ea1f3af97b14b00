import { closeSync, existsSync, openSync } from 'node:fs'
import { saveBody, saveText } from '../../cli/save-body.js'
import { tty } from '../../cli/terminal.js'
import { writeControls } from '../../cli/terminal-writer.js'
import { formatBytes } from '../../cli/units.js'
import { toNonEmptyString } from '../../lib/json/values.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { readMessages } from '../conversations.js'
import { MAX_PAGE_SIZE, toItems } from '../pages.js'
import type { Conversation } from './conversation.js'
import type { ChatEntry } from './entries.js'
import { formatMarkdown } from './export-markdown.js'

/** Slash commands for the answers of a conversation. */

/** maximum base64 length that terminals accept for the clipboard */
const MAX_CLIPBOARD_CHARACTERS = 74_994

function findLastAnswer(conversation: Conversation): ChatEntry | undefined {
  return conversation.getState().entries.findLast(({ kind }) => kind === 'answer')
}

/** Shows the thoughts of the model before its last answer. */
export function showThoughts(conversation: Conversation): void {
  const { thought } = findLastAnswer(conversation) ?? {}
  conversation.note(thought === undefined ? 'The last answer has no thoughts.' : thought.trim())
}

/** Shows the steps of an agent before its last answer. */
export function showSteps(conversation: Conversation): void {
  const { steps = [] } = findLastAnswer(conversation) ?? {}
  const parts = steps.map(({ thought, tool, input, observation }, index) =>
    [
      `${index + 1}. ${tool === '' ? 'thought' : tool}`,
      ...[thought, input, observation].filter((text) => text.trim() !== '').map((text) => `   ${text.trim()}`),
    ].join('\n'),
  )
  conversation.note(parts.length === 0 ? 'The last answer has no steps.' : parts.join('\n'))
}

export async function showVariables(conversation: Conversation): Promise<void> {
  const { conversationId } = conversation.getState()
  if (conversationId === undefined) return conversation.note('The conversation has not begun.')
  const { chat } = conversation
  const path = `/conversations/${conversationId}/variables?user=${chat.encodedUser}&limit=${MAX_PAGE_SIZE}`
  const lines = toItems(await chat.call('GET', path)).map(
    ({ name, value }) => `${toNonEmptyString(name) ?? ''}: ${toNonEmptyString(value) ?? ''}`,
  )
  conversation.note(lines.length === 0 ? 'The conversation has no variables.' : lines.join('\n'))
}

/** Rates the last answer. @param reason what is good or bad about it; empty for none */
export async function rateLastAnswer(
  conversation: Conversation,
  rating: 'like' | 'dislike',
  reason: string,
): Promise<void> {
  const { messageId, sent } = conversation.getState()
  if (messageId === undefined) return conversation.note('There is no answer to rate yet.')
  const { chat } = conversation
  const body = { rating, user: chat.user, ...(reason === '' ? {} : { content: reason }) }
  await chat.call('POST', `/messages/${messageId}/feedbacks`, body)
  const question = JSON.stringify(sent.at(-1) ?? '')
  const note = rating === 'like' ? 'Marked as a good answer' : 'Marked as a bad answer'
  const more =
    reason !== ''
      ? `, because: ${reason}`
      : rating === 'dislike'
        ? '. `/dislike REASON` sends a reason to the owner of the application'
        : ''
  conversation.note(`${note} to ${question}${more}.`)
}

/** Sends one of the suggested questions. @param typedNumber its number, from 1 */
export function sendSuggestion(conversation: Conversation, typedNumber: string) {
  const { suggestions } = conversation.getState()
  const question = suggestions[Number(typedNumber) - 1]
  if (suggestions.length === 0) return conversation.note('There are no suggested questions.')
  if (question === undefined) return conversation.note(`/ask takes a number from 1 to ${suggestions.length}.`)
  void conversation.send(question).catch((error: unknown) => conversation.showError(error))
}

/** Reads the last answer aloud until its end or `stopSpeech`. @param file file for its audio instead; empty for none */
export async function speakLastAnswer(conversation: Conversation, file: string): Promise<void> {
  const { messageId } = conversation.getState()
  if (messageId === undefined) return conversation.note('There is no answer to read yet.')
  await conversation.runSpeech(async (signal) => {
    const { openAudio } = await import('../audio.js')
    const { assertPlayer, playAudio } = await import('../player.js')
    if (file === '') assertPlayer()
    const audio = await openAudio(conversation.chat, { message_id: messageId })
    if (file === '') await playAudio(audio, signal)
    else conversation.note(`Wrote ${file}, ${formatBytes(await saveBody(audio, file))}.`)
  })
}

/** Attaches an image to the next message: uploads a file, or passes on an address. */
export async function attachImage(conversation: Conversation, fileOrUrl: string): Promise<void> {
  if (fileOrUrl === '') return conversation.note('/image needs a file or an address.')
  const { toImageInput } = await import('../files.js')
  const input = await toImageInput(conversation.chat, fileOrUrl)
  conversation.update({ attachments: [...conversation.getState().attachments, { name: fileOrUrl, input }] })
  conversation.note(`${fileOrUrl} is attached to the next message.`)
}

/** Attaches a document or an image to the next message. */
export async function attachFile(conversation: Conversation, file: string): Promise<void> {
  if (file === '') return conversation.note('/file needs a file.')
  const { toFileInput } = await import('../files.js')
  const input = await toFileInput(conversation.chat, file)
  conversation.update({ attachments: [...conversation.getState().attachments, { name: file, input }] })
  conversation.note(`${file} is attached to the next message.`)
}

/** Copies the last answer to the terminal's clipboard. Terminals do not report whether they did so. */
export function copyLastAnswer(conversation: Conversation) {
  const { text = '' } = findLastAnswer(conversation) ?? {}
  if (text === '') return conversation.note('There is no answer to copy yet.')
  const encoded = Buffer.from(text).toString('base64')
  if (encoded.length > MAX_CLIPBOARD_CHARACTERS)
    return conversation.note(
      'The last answer is too long for the clipboard of a terminal; /export writes it to a file.',
    )
  writeControls(process.stdout, `\u001b]52;c;${encoded}\u0007`)
  conversation.note(`Sent the last answer to the terminal's clipboard; some terminals ignore this.`)
}

/** Exports the complete conversation from the service. @param argument a new file, or `-f` and a file to replace */
export async function exportConversation(conversation: Conversation, argument: string): Promise<void> {
  const isOverwrite = /^-f\s/.test(argument)
  const file = isOverwrite ? argument.slice(2).trim() : argument.trim()
  const { conversationId, name } = conversation.getState()
  if (file === '') return conversation.note('/export needs the name of a file.')
  if (conversationId === undefined) return conversation.note('The conversation has not begun.')
  if (!isOverwrite && existsSync(file))
    return conversation.note(`${file} exists already; /export -f ${file} replaces it.`)
  await conversation.waitUntilSettled()
  const messages = await readMessages(conversation.chat, conversationId, undefined)
  const text = file.endsWith('.json') ? `${JSON.stringify(messages, null, 2)}\n` : formatMarkdown(name, messages)
  // Created exclusively, so that a file that appears meanwhile is not replaced.
  if (!isOverwrite) closeSync(openSync(file, 'wx'))
  await saveText(text, file)
  conversation.note(tty(`Wrote ${file}: ${pluralize(messages.length, 'message')}.`))
}
