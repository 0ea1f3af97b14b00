import { ask, attach, copy, exportTo, rate, showSteps, showThoughts, showVariables, speak } from './answers.js'
import type { Conversation } from './conversation.js'
import { openConversation, removeConversation, renameConversation, searchConversations } from './kept.js'

/** What the view does after a slash command. */
export type Outcome =
  | undefined
  | { leave: true }
  /** the text to edit in the input line */
  | { draft: string }
  /** the text to edit with `$EDITOR` */
  | { edit: string }

interface Command {
  readonly name: string
  readonly argument?: string
  readonly what: string
  /** whether the argument names a file, so that Tab completes it */
  readonly takesFile?: true
  run(conversation: Conversation, argument: string): Promise<Outcome> | Outcome
}

/** Makes a command that leaves the input line unchanged. */
const plain =
  (work: (conversation: Conversation, argument: string) => Promise<void> | void): Command['run'] =>
  async (conversation, argument) => {
    await work(conversation, argument)
    return undefined
  }

/** Every slash command, in the order of `/help` and Tab. */
export const COMMANDS: readonly Command[] = [
  { name: 'new', what: 'begin a new conversation', run: plain(beginNew) },
  { name: 'open', argument: '[N|ID]', what: 'list conversations, or open one', run: plain(openConversation) },
  {
    name: 'search',
    argument: 'WORDS',
    what: 'find conversations by name or content',
    run: plain(searchConversations),
  },
  {
    name: 'rename',
    argument: '[NAME]',
    what: 'name this conversation; without a name, generate one',
    run: plain(renameConversation),
  },
  {
    name: 'delete',
    argument: '[N|ID]',
    what: 'delete this conversation, or a listed one',
    run: plain(removeConversation),
  },
  {
    name: 'regenerate',
    what: 'send the last message again; both answers stay',
    run: plain((conversation) => void conversation.regenerate().catch((error: unknown) => conversation.failed(error))),
  },
  {
    name: 'resend',
    what: 'edit the last message and send it',
    run: (conversation) => ({ draft: conversation.state().sent.at(-1) ?? '' }),
  },
  {
    name: 'edit',
    argument: '[TEXT]',
    what: 'write a message with $EDITOR',
    run: (_, argument) => ({ edit: argument }),
  },
  { name: 'ask', argument: 'N', what: 'send a suggested question', run: plain(ask) },
  {
    name: 'image',
    argument: 'FILE',
    takesFile: true,
    what: 'attach an image file or URL to the next message',
    run: plain(attach),
  },
  { name: 'copy', what: 'copy the last answer to the clipboard, by OSC 52', run: plain(copy) },
  {
    name: 'export',
    argument: '[-f] FILE',
    takesFile: true,
    what: 'export the conversation as Markdown or .json; -f replaces',
    run: plain(exportTo),
  },
  { name: 'steps', what: 'show the steps of the agent before the last answer', run: plain(showSteps) },
  { name: 'thoughts', what: 'show the thoughts of the model before the last answer', run: plain(showThoughts) },
  { name: 'vars', what: 'show the variables of the conversation', run: plain(showVariables) },
  { name: 'like', what: 'rate the last answer as good', run: plain((conversation) => rate(conversation, 'like')) },
  { name: 'dislike', what: 'rate the last answer as bad', run: plain((conversation) => rate(conversation, 'dislike')) },
  {
    name: 'speak',
    argument: '[FILE]',
    takesFile: true,
    what: 'read the last answer aloud, or into a file',
    // Runs in the background while other input is handled.
    run: plain(
      (conversation, file) => void speak(conversation, file).catch((error: unknown) => conversation.failed(error)),
    ),
  },
  { name: 'help', what: 'show this help', run: plain((conversation) => conversation.note(help())) },
  { name: 'quit', what: 'exit; the service keeps the conversation', run: () => ({ leave: true }) },
]

/** Synonyms of commands. */
const OTHER_WORDS: Readonly<Record<string, string>> = { exit: 'quit' }

const KEYS = `Enter sends, Ctrl-J or Alt-Enter inserts a line break, Tab completes, ↑ and ↓ recall sent messages, Ctrl-R searches them.
A message sent during an answer is queued. Ctrl-C stops an answer and keeps its text so far; pressed twice at an empty line, it exits. Ctrl-D exits at once.
Ctrl-N begins a new conversation, Ctrl-O lists conversations, Ctrl-X Ctrl-E opens $EDITOR.`

/** The text of `/help`. */
export function help(): string {
  return [...described(COMMANDS), '', KEYS].join('\n')
}

/** Usage lines of the commands that a line with a slash may become, or of the command in it. */
export function hintsFor(text: string): string[] {
  const [, name = '', space = ''] = /^\/(\w*)(\s?)/.exec(text) ?? []
  if (!text.startsWith('/') || text.startsWith('//')) return []
  return described(COMMANDS.filter((command) => (space === '' ? command.name.startsWith(name) : command.name === name)))
}

/** One line for each command: its usage and description. */
function described(commands: readonly Command[]): string[] {
  const usages = commands.map(({ name, argument }) => `/${name}${argument === undefined ? '' : ` ${argument}`}`)
  const width = Math.max(...usages.map((usage) => usage.length))
  return commands.map(({ what }, index) => `${(usages[index] ?? '').padEnd(width)}  ${what}`)
}

/** Runs a line that begins with a slash. */
export async function runCommand(line: string, conversation: Conversation): Promise<Outcome> {
  const [, word = '', argument = ''] = /^\/(\S*)\s*(.*)$/su.exec(line.trim()) ?? []
  const name = OTHER_WORDS[word] ?? word
  const command = COMMANDS.find((one) => one.name === name)
  if (command !== undefined) return await command.run(conversation, argument)
  conversation.note(`There is no command /${word}; /help lists the commands. To send a message that begins with a slash, type //…`)
  return undefined
}

async function beginNew(conversation: Conversation): Promise<void> {
  // Messages that are still queued belong to the previous conversation.
  await conversation.settled()
  conversation.reset()
}
