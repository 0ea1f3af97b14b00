import {
  attachFile,
  attachImage,
  copyLastAnswer,
  exportConversation,
  rateLastAnswer,
  sendSuggestion,
  showSteps,
  showThoughts,
  showVariables,
  speakLastAnswer,
} from './answers.js'
import type { Conversation } from './conversation.js'
import {
  openConversation,
  removeConversation,
  renameConversation,
  searchConversations,
} from './stored-conversations.js'

/** Action of the view after a slash command. */
export type CommandOutcome =
  | undefined
  | { leave: true }
  /** the text to edit in the input line */
  | { draft: string }
  /** the text to edit with `$EDITOR` */
  | { edit: string }

interface SlashCommand {
  readonly name: string
  readonly argument?: string
  readonly description: string
  /** whether the argument names a file, so that Tab completes it */
  readonly takesFile?: true
  run(conversation: Conversation, argument: string): Promise<CommandOutcome> | CommandOutcome
}

/** Makes a command that leaves the input line unchanged. */
const withoutOutcome =
  (action: (conversation: Conversation, argument: string) => Promise<void> | void): SlashCommand['run'] =>
  async (conversation, argument) => {
    await action(conversation, argument)
    return undefined
  }

/** Every slash command, in the order of `/help` and Tab. */
export const COMMANDS: readonly SlashCommand[] = [
  { name: 'new', description: 'begin a new conversation', run: withoutOutcome(startConversation) },
  {
    name: 'open',
    argument: '[N|ID]',
    description: 'list conversations, or open one',
    run: withoutOutcome(openConversation),
  },
  {
    name: 'search',
    argument: 'WORDS',
    description: 'find conversations by name or content',
    run: withoutOutcome(searchConversations),
  },
  {
    name: 'rename',
    argument: '[NAME]',
    description: 'name this conversation; without a name, generate one',
    run: withoutOutcome(renameConversation),
  },
  {
    name: 'delete',
    argument: '[N|ID]',
    description: 'delete this conversation, or a listed one',
    run: withoutOutcome(removeConversation),
  },
  {
    name: 'regenerate',
    description: 'send the last message again; both answers stay',
    run: withoutOutcome(
      (conversation) => void conversation.regenerate().catch((error: unknown) => conversation.showError(error)),
    ),
  },
  {
    name: 'resend',
    description: 'edit the last message and send it',
    run: (conversation) => ({ draft: conversation.getState().sent.at(-1) ?? '' }),
  },
  {
    name: 'edit',
    argument: '[TEXT]',
    description: 'write a message with $EDITOR',
    run: (_, argument) => ({ edit: argument }),
  },
  { name: 'ask', argument: 'N', description: 'send a suggested question', run: withoutOutcome(sendSuggestion) },
  {
    name: 'image',
    argument: 'FILE',
    takesFile: true,
    description: 'attach an image file or URL to the next message',
    run: withoutOutcome(attachImage),
  },
  {
    name: 'file',
    argument: 'FILE',
    takesFile: true,
    description: 'attach a document or an image to the next message',
    run: withoutOutcome(attachFile),
  },
  {
    name: 'copy',
    description: 'copy the last answer to the clipboard, by OSC 52',
    run: withoutOutcome(copyLastAnswer),
  },
  {
    name: 'export',
    argument: '[-f] FILE',
    takesFile: true,
    description: 'export the conversation as Markdown or .json; -f replaces',
    run: withoutOutcome(exportConversation),
  },
  { name: 'steps', description: 'show the steps of the agent before the last answer', run: withoutOutcome(showSteps) },
  {
    name: 'thoughts',
    description: 'show the thoughts of the model before the last answer',
    run: withoutOutcome(showThoughts),
  },
  { name: 'vars', description: 'show the variables of the conversation', run: withoutOutcome(showVariables) },
  {
    name: 'like',
    argument: '[REASON]',
    description: 'mark the last answer as good',
    run: withoutOutcome((conversation, reason) => rateLastAnswer(conversation, 'like', reason)),
  },
  {
    name: 'dislike',
    argument: '[REASON]',
    description: 'mark the last answer as bad, with a reason for its owner',
    run: withoutOutcome((conversation, reason) => rateLastAnswer(conversation, 'dislike', reason)),
  },
  {
    name: 'speak',
    argument: '[FILE]',
    takesFile: true,
    description: 'read the last answer aloud, or into a file',
    // Runs in the background while other input is handled.
    run: withoutOutcome(
      (conversation, file) =>
        void speakLastAnswer(conversation, file).catch((error: unknown) => conversation.showError(error)),
    ),
  },
  {
    name: 'help',
    description: 'show this help',
    run: withoutOutcome((conversation) => conversation.note(formatHelp())),
  },
  { name: 'quit', description: 'exit; the service keeps the conversation', run: () => ({ leave: true }) },
]

/** Synonyms of commands. */
const SYNONYMS: Readonly<Record<string, string>> = { exit: 'quit' }

const KEYS = `Enter sends, Ctrl-J or Alt-Enter inserts a line break, Tab completes, ↑ and ↓ recall sent messages, Ctrl-R searches them.
A message sent during an answer is queued. Ctrl-C stops an answer and keeps its text so far; pressed twice at an empty line, it exits. Ctrl-D exits at once.
Ctrl-N begins a new conversation, Ctrl-O lists conversations, Ctrl-X Ctrl-E opens $EDITOR.`

/** Formats the text of `/help`. */
export function formatHelp(): string {
  return [...formatUsages(COMMANDS), '', KEYS].join('\n')
}

/** Lists usage lines of the commands that a line with a slash may become, or of the command in it. */
export function listHints(text: string): string[] {
  const [, name = '', space = ''] = /^\/(\w*)(\s?)/.exec(text) ?? []
  if (!text.startsWith('/') || text.startsWith('//')) return []
  return formatUsages(
    COMMANDS.filter((command) => (space === '' ? command.name.startsWith(name) : command.name === name)),
  )
}

/** Formats a line for each command: its usage and description. */
function formatUsages(commands: readonly SlashCommand[]): string[] {
  const usages = commands.map(({ name, argument }) => `/${name}${argument === undefined ? '' : ` ${argument}`}`)
  const width = Math.max(...usages.map((usage) => usage.length))
  return commands.map(({ description }, index) => `${(usages[index] ?? '').padEnd(width)}  ${description}`)
}

/** Runs the slash command of a line. */
export async function runCommand(line: string, conversation: Conversation): Promise<CommandOutcome> {
  const [, typedName = '', argument = ''] = /^\/(\S*)\s*(.*)$/su.exec(line.trim()) ?? []
  const name = SYNONYMS[typedName] ?? typedName
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (command !== undefined) return await command.run(conversation, argument)
  conversation.note(
    `There is no command /${typedName}; /help lists the commands. To send a message that begins with a slash, type //…`,
  )
  return undefined
}

async function startConversation(conversation: Conversation): Promise<void> {
  // Messages that are still queued belong to the previous conversation.
  await conversation.waitUntilSettled()
  conversation.reset()
}
