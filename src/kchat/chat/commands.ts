import { ask, attach, copy, exportTo, rate, showSteps, showThoughts, showVariables, speak } from './answers.js'
import type { Conversation } from './conversation.js'
import { openConversation, removeConversation, renameConversation, searchConversations } from './kept.js'

/** What the view does after a command. */
export type Outcome =
  | undefined
  | { leave: true }
  /** the text is to be edited in the line */
  | { draft: string }
  /** the text is to be edited with `$EDITOR` */
  | { edit: string }

interface Command {
  readonly name: string
  readonly argument?: string
  readonly what: string
  /** its argument names a file: Tab completes it */
  readonly takesFile?: true
  run(conversation: Conversation, argument: string): Promise<Outcome> | Outcome
}

/** A command that leaves the line as it is. */
const plain =
  (work: (conversation: Conversation, argument: string) => Promise<void> | void): Command['run'] =>
  async (conversation, argument) => {
    await work(conversation, argument)
    return undefined
  }

/** Every command, as `/help` lists them and Tab completes them. */
export const COMMANDS: readonly Command[] = [
  { name: 'new', what: 'begin a new conversation', run: plain(beginNew) },
  { name: 'open', argument: '[N|ID]', what: 'list conversations, or open one', run: plain(openConversation) },
  {
    name: 'search',
    argument: 'WORDS',
    what: 'find conversations by name or what was said',
    run: plain(searchConversations),
  },
  {
    name: 'rename',
    argument: '[NAME]',
    what: 'name this conversation, or have it named',
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
    what: 'change the last message and send that',
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
    what: 'send an image or its address with the next message',
    run: plain(attach),
  },
  { name: 'copy', what: 'last answer to the clipboard, by OSC 52', run: plain(copy) },
  {
    name: 'export',
    argument: '[-f] FILE',
    takesFile: true,
    what: 'write it all as Markdown, or as .json; -f replaces',
    run: plain(exportTo),
  },
  { name: 'steps', what: 'what an agent did before the last answer', run: plain(showSteps) },
  { name: 'thoughts', what: 'what the model thought before the last answer', run: plain(showThoughts) },
  { name: 'vars', what: 'what the conversation keeps', run: plain(showVariables) },
  { name: 'like', what: 'rate the last answer', run: plain((conversation) => rate(conversation, 'like')) },
  { name: 'dislike', what: 'rate the last answer', run: plain((conversation) => rate(conversation, 'dislike')) },
  {
    name: 'speak',
    argument: '[FILE]',
    takesFile: true,
    what: 'read the last answer aloud, or into a file',
    // it goes on while other things are done
    run: plain(
      (conversation, file) => void speak(conversation, file).catch((error: unknown) => conversation.failed(error)),
    ),
  },
  { name: 'help', what: 'this text', run: plain((conversation) => conversation.note(help())) },
  { name: 'quit', what: 'leave; the service keeps the conversation', run: () => ({ leave: true }) },
]

/** Another word for a command. */
const OTHER_WORDS: Readonly<Record<string, string>> = { exit: 'quit' }

const KEYS = `Enter sends, Ctrl-J or Alt-Enter begins another line, Tab completes, ↑ and ↓ call messages back, Ctrl-R searches them.
A message sent while an answer comes waits for its end. Ctrl-C stops an answer and keeps what was said; at an empty line it leaves when pressed twice. Ctrl-D leaves at once.
Ctrl-N begins a new conversation, Ctrl-O lists them, Ctrl-X Ctrl-E opens $EDITOR.`

/** What `/help` shows. */
export function help(): string {
  return [...described(COMMANDS), '', KEYS].join('\n')
}

/** What a line that begins with a slash could become, or what the command in it takes. */
export function hintsFor(text: string): string[] {
  const [, name = '', space = ''] = /^\/(\w*)(\s?)/.exec(text) ?? []
  if (!text.startsWith('/') || text.startsWith('//')) return []
  return described(COMMANDS.filter((command) => (space === '' ? command.name.startsWith(name) : command.name === name)))
}

/** A line for each: how it is written, and what it does. */
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
  conversation.note(`There is no command /${word}: /help lists them. A message that begins with a slash: //…`)
  return undefined
}

async function beginNew(conversation: Conversation): Promise<void> {
  // messages that were sent before belong to the conversation of before
  await conversation.settled()
  conversation.reset()
}
