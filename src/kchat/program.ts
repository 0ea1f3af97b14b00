import { Argument, Command, Option } from 'commander'
import { SHELLS } from '../cli/completion.js'
import { ENVIRONMENT } from '../cli/environment.js'
import { readLocalPath } from '../cli/local-path.js'
import { writeOut } from '../cli/terminal-writer.js'
import { addAppCommands } from './app-commands.js'
import {
  addChatCommand,
  addCommonOptions,
  addKeyCommand,
  addListOptions,
  collect,
  parseCountOption,
  parseNumberOption,
} from './command.js'
import { buildCompletion, listLeafCommands } from './completion.js'
import { EXAMPLES } from './examples.js'
import { readVersion } from './version.js'

// Each command loads its modules when it runs, so that no command waits for those of another.
const loadConversations = () => import('./conversations.js')
const loadFiles = () => import('./files.js')
const loadAudio = () => import('./audio.js')
const loadAnnotations = () => import('./annotations.js')

/** Builds the parser with all commands of `kchat`. */
export function buildProgram(): Command {
  const root = new Command('kchat')
    .description('Chat with applications that answer from knowledge spaces.')
    .exitOverride()
    // Usage errors are printed by `usage-errors.ts`.
    .configureOutput({ outputError: () => undefined })
    .version(`kchat ${readVersion()}`, '--version', 'print the version')
  addChat(root)
  addMessages(root)
  addConversations(root)
  addAnnotations(root)
  addAppCommands(root)
  addAliases(root)
  root
    .command('completion')
    .description('Print the completion script of a shell.')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell) => {
      writeOut(buildCompletion(shell, root))
    })
  root.hook('preAction', async (_, command) => {
    await (await import('./output.js')).beginOutput(command.opts(), { isPaged: isPaged(command) })
  })
  for (const { words, command } of listLeafCommands(root)) {
    addCommonOptions(command)
    resolvePaths(command)
    command.addHelpText('after', formatExamples(words.join(' ')))
  }
  const variables = ENVIRONMENT.filter(([name]) => name.startsWith('KCHAT_') || name.endsWith('_PROXY'))
  root.addHelpText(
    'after',
    `\nEnvironment:\n${variables.map(([name, description]) => `  ${name.padEnd(14)} ${description}\n`).join('')}`,
  )
  return root
}

/** Resolves `~` and a variable at the beginning of options and arguments that are files of this machine. */
function resolvePaths(command: Command): void {
  for (const option of command.options)
    if (option.flags.endsWith('<file>') && option.parseArg === undefined) option.argParser(readLocalPath)
  for (const argument of command.registeredArguments) if (argument.name() === 'file') argument.argParser(readLocalPath)
}

/** Lists the words that begin a command and so cannot be aliases. */
export function listFirstWords(root: Command): ReadonlySet<string> {
  return new Set(['help', ...root.commands.flatMap((command) => [command.name(), ...command.aliases()])])
}

/** commands that print once and may print more than a screen */
const PAGED = new Set(['history', 'app', 'feedbacks', 'use', 'apps show', 'conversations vars'])

function isPaged(command: Command): boolean {
  const group = command.parent
  const words = group?.parent ? [group.name(), command.name()] : [command.name()]
  return words.at(-1) === 'list' || PAGED.has(words.join(' '))
}

function addAliases(root: Command): void {
  const loadAliases = () => import('./aliases.js')
  const group = root.command('alias').description('Manage your own short names for commands.')
  addKeyCommand(group, 'list', 'List the aliases (default command).', { isDefault: true })
    .alias('ls')
    .action(async (options) => (await loadAliases()).listAliases(options))
  addKeyCommand(group, 'set <name> <command>', 'Create an alias; $1 to $9 stand for the words after its name.').action(
    async (name, command, options) => (await loadAliases()).createAlias(name, command, listFirstWords(root), options),
  )
  addKeyCommand(group, 'delete <name>', 'Delete an alias.').action(async (name, options) =>
    (await loadAliases()).removeAlias(name, options),
  )
}

function formatExamples(name: string): string {
  const lines = EXAMPLES[name] ?? []
  return lines.length === 0 ? '' : `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

const collectPaths = (path: string, paths?: string[]) => collect(readLocalPath(path), paths)

function addChat(root: Command): void {
  addChatCommand(root, 'send <text>', 'Send one message and stream the answer; - reads the message from stdin.')
    .option('--conversation <id>', 'conversation: id, last or new', 'new')
    .option('--input <key=value>', 'value of a variable of the application, repeatable', collect)
    .option('--image <file|url>', 'image to send with the message, repeatable', collectPaths)
    .option('--file <file>', 'document or image to send with the message, repeatable', collectPaths)
    .option('--blocking', 'wait for the complete answer')
    .option('--thoughts', 'print the thoughts of the model, too')
    .option('--sources', 'print the sources below the answer on stdout, instead of on stderr')
    .option('--no-name', 'do not generate a name for a new conversation')
    .option('--speak', 'read the answer aloud')
    .option('-o, --output <file>', 'file for the audio, instead of playing it')
    .action(async (text, options) => (await import('./send.js')).sendMessage(text, options))
  addChatCommand(root, 'chat', 'Chat in the terminal; in a pipe, each line of stdin is a message.')
    .option('--conversation <id>', 'conversation: id, last or new', 'new')
    .option('--input <key=value>', 'value of a variable of the application, repeatable', collect)
    .option('--thoughts', 'in a pipe, print the thoughts of the model, too')
    .option('--sources', 'in a pipe, print the sources on stdout, instead of on stderr')
    .action(async (options) => (await import('./chat/run.js')).runChat(options))
}

function addMessages(root: Command): void {
  addChatCommand(root, 'stop <task>', 'Stop an answer; keep its text so far.').action(async (task, options) =>
    (await loadConversations()).stopAnswer(task, options),
  )
  addChatCommand(root, 'suggest <message>', 'Suggest questions after an answer.').action(async (message, options) =>
    (await loadConversations()).showSuggestions(message, options),
  )
  addChatCommand(root, 'feedback <message>', 'Rate an answer, or remove its rating.')
    .addArgument(new Argument('<rating>').choices(['like', 'dislike', 'none']))
    .option('--note <text>', 'reason for the rating')
    .action(async (message, rating, options) => (await loadConversations()).rateMessage(message, rating, options))
  addListOptions(addChatCommand(root, 'feedbacks', 'List the ratings of the application, newest first.'))
    .option('--page <n>', 'page number, from 1', parseCountOption('--page'))
    .action(async (options) => (await loadConversations()).listRatings(options))
  addChatCommand(root, 'upload <file>', 'Upload an image or a document for a message; - reads stdin.')
    .option('--name <name>', 'name of the file')
    .action(async (file, options) => (await loadFiles()).uploadForMessage(file, options))
  addChatCommand(root, 'preview <id>', 'Download an image of a message.')
    .option('-o, --output <file>', 'file to write, instead of stdout')
    .action(async (id, options) => (await loadFiles()).savePreview(id, options))
  addChatCommand(root, 'transcribe <file>', 'Transcribe an audio file; - reads stdin.')
    .option('--name <name>', 'name of the file, such as talk.mp3, if its bytes do not show its type')
    .action(async (file, options) => (await loadAudio()).transcribe(file, options))
  addChatCommand(root, 'speak [text]', 'Read a text or an answer aloud; - reads the text from stdin.')
    .option('--message <id>', 'answer to read, instead of a text')
    .option('--voice <name>', "voice, instead of the application's")
    .option('-o, --output <file>', 'file for the audio, instead of the player or, in a pipe, stdout')
    .action(async (text, options) => (await loadAudio()).speak(text, options))
  addChatCommand(root, 'app', 'Show information on the application.')
    .addArgument(new Argument('[part]').choices(['info', 'parameters', 'meta', 'site']))
    .action(async (part, options) => (await loadConversations()).showApplication(part, options))
}

const SORT_ORDERS = ['created_at', '-created_at', 'updated_at', '-updated_at']

function addConversations(root: Command): void {
  addListOptions(
    addChatCommand(root, 'history <conversation>', 'Show the newest messages of a conversation, oldest first.'),
    100,
  ).action(async (id, options) => (await loadConversations()).showHistory(id, options))
  const group = root.command('conversations').description('List, rename and delete conversations, and their variables.')
  addListOptions(
    addChatCommand(group, 'list', 'List conversations, latest first (default command).', { isDefault: true }),
  )
    .alias('ls')
    .addOption(
      new Option('--sort <order>', 'sort order; a minus reverses it (default -updated_at)').choices(SORT_ORDERS),
    )
    .option('--cursor <id>', 'start after this conversation')
    .action(async (options) => (await loadConversations()).listConversations(options))
  addChatCommand(group, 'rename <id> [name]', 'Name a conversation.')
    .option('--auto', 'generate the name from its first question')
    .action(async (id, name, options) => (await loadConversations()).renameConversation(id, name, options))
  addChatCommand(group, 'delete <id>', 'Delete a conversation with its messages.').action(async (id, options) =>
    (await loadConversations()).deleteConversation(id, options),
  )
  addChatCommand(group, 'vars <id>', 'List the variables of a conversation.')
    .option('--name <name>', 'text that the names contain')
    .action(async (id, options) => (await loadConversations()).listVariables(id, options))
  addChatCommand(
    group,
    'set-var <id> <name> <value>',
    'Set a variable of a conversation; - reads the value from stdin.',
  ).action(async (id, name, value, options) => (await loadConversations()).setVariable(id, name, value, options))
}

function addAnnotations(root: Command): void {
  const group = root.command('annotations').description('Manage questions with fixed answers.')
  const addTextOptions = (child: Command) =>
    child.requiredOption('--question <text>', 'question text').requiredOption('--answer <text>', 'fixed answer')
  addListOptions(
    addChatCommand(group, 'list', 'List annotations, newest first (default command).', { isDefault: true }),
  )
    .alias('ls')
    .option('--keyword <text>', 'text that the annotations contain')
    .option('--page <n>', 'page number, from 1', parseCountOption('--page'))
    .action(async (options) => (await loadAnnotations()).listAnnotations(options))
  addTextOptions(addChatCommand(group, 'add', 'Add a fixed answer to a question.')).action(async (options) =>
    (await loadAnnotations()).addAnnotation(options),
  )
  addTextOptions(addChatCommand(group, 'update <id>', 'Change the question and answer of an annotation.')).action(
    async (id, options) => (await loadAnnotations()).updateAnnotation(id, options),
  )
  addChatCommand(group, 'delete <id>', 'Delete an annotation.').action(async (id, options) =>
    (await loadAnnotations()).deleteAnnotation(id, options),
  )
  const reply = root.command('annotation-reply').description('Answer similar questions with annotations.')
  addChatCommand(reply, 'enable', 'Enable annotation replies; starts a job.')
    .option('--threshold <0..1>', 'minimum similarity of questions (default 0.9)', parseNumberOption('--threshold'))
    .option('--wait', 'wait until the job is done')
    .action(async (options) => (await loadAnnotations()).setAnnotationReply('enable', options))
  addChatCommand(reply, 'disable', 'Disable annotation replies; starts a job.')
    .option('--wait', 'wait until the job is done')
    .action(async (options) => (await loadAnnotations()).setAnnotationReply('disable', options))
  addChatCommand(reply, 'status <job>', 'Show the status of a job that enables or disables annotation replies.')
    .addOption(new Option('--action <action>', 'action of the job').choices(['enable', 'disable']).default('enable'))
    .action(async (job, options) => (await loadAnnotations()).showReplyStatus(job, options))
}
