import { Argument, Command, Option } from 'commander'
import { SHELLS } from '../cli/completion.js'
import { ENVIRONMENT } from '../cli/environment.js'
import { writeOut } from '../cli/terminal-writer.js'
import { addApps } from './app-commands.js'
import { addCommon, chatCommand, collect, countOf, keyCommand, listOptions, numberOf } from './command.js'
import { completion, leafCommands } from './completion.js'
import { EXAMPLES } from './examples.js'
import { version } from './version.js'

// Every command loads what it needs when it runs, so that none waits for another's.
const chats = () => import('./conversations.js')
const files = () => import('./files.js')
const audio = () => import('./audio.js')
const annotations = () => import('./annotations.js')

/** All commands of `kchat`. */
export function program(): Command {
  const root = new Command('kchat')
    .description('Chat with applications that answer from knowledge spaces.')
    .exitOverride()
    // what is wrong is said by `usage-errors.ts`
    .configureOutput({ outputError: () => undefined })
    .version(`kchat ${version()}`, '--version', 'print the version')
  addChat(root)
  addMessages(root)
  addConversations(root)
  addAnnotations(root)
  addApps(root)
  addAliases(root)
  root
    .command('completion')
    .description('Print the completion script of a shell.')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell) => {
      writeOut(completion(shell, root))
    })
  root.hook('preAction', async (_, command) => {
    await (await import('./output.js')).beginOutput(command.opts(), isPaged(command))
  })
  for (const { words, command } of leafCommands(root)) {
    addCommon(command)
    command.addHelpText('after', examplesOf(words.join(' ')))
  }
  const variables = ENVIRONMENT.filter(([name]) => name.startsWith('KCHAT_') || name.endsWith('_PROXY'))
  root.addHelpText(
    'after',
    `\nEnvironment:\n${variables.map(([name, what]) => `  ${name.padEnd(14)} ${what}\n`).join('')}`,
  )
  return root
}

/** Words that begin a command: no alias may be one of them. */
export function topWords(root: Command): ReadonlySet<string> {
  return new Set(['help', ...root.commands.flatMap((command) => [command.name(), ...command.aliases()])])
}

/** commands whose output may be longer than a screen, and which print once and end */
const PAGED = new Set(['history', 'app', 'feedbacks', 'use', 'apps show', 'conversations vars'])

function isPaged(command: Command): boolean {
  const group = command.parent
  const words = group?.parent ? [group.name(), command.name()] : [command.name()]
  return words.at(-1) === 'list' || PAGED.has(words.join(' '))
}

function addAliases(root: Command): void {
  const aliases = () => import('./aliases.js')
  const group = root.command('alias').description('Short names of your own for commands.')
  keyCommand(group, 'list', 'List them; also without this word.', true)
    .alias('ls')
    .action(async (options) => (await aliases()).listAliases(options))
  keyCommand(group, 'set <name> <command>', 'Make one; $1 to $9 in it are the words behind the name.').action(
    async (name, command, options) => (await aliases()).setAlias(name, command, topWords(root), options),
  )
  keyCommand(group, 'delete <name>', 'Forget one.').action(async (name, options) =>
    (await aliases()).deleteAlias(name, options),
  )
}

function examplesOf(name: string): string {
  const lines = EXAMPLES[name] ?? []
  return lines.length === 0 ? '' : `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function addChat(root: Command): void {
  chatCommand(root, 'send <text>', 'Send one message and stream the answer; - reads it from stdin.')
    .option('--conversation <id>', 'id, last or new', 'new')
    .option('--input <key=value>', 'value of a variable of the application, repeatable', collect)
    .option('--image <file|url>', 'image to send with the message, repeatable', collect)
    .option('--blocking', 'wait for the whole answer')
    .option('--thoughts', 'print what the model thinks before it answers, too')
    .option('--no-name', 'do not make a name for a new conversation')
    .option('--speak', 'read the answer aloud')
    .option('-o, --output <file>', 'write its audio there instead of playing it')
    .action(async (text, options) => (await import('./send.js')).send(text, options))
  chatCommand(root, 'chat', 'Talk in the terminal; in a pipe, each line of stdin is a message.')
    .option('--conversation <id>', 'id, last or new', 'new')
    .option('--input <key=value>', 'value of a variable of the application, repeatable', collect)
    .option('--thoughts', 'in a pipe, print what the model thinks before it answers, too')
    .action(async (options) => (await import('./chat/run.js')).chat(options))
}

function addMessages(root: Command): void {
  chatCommand(root, 'stop <task>', 'Stop an answer; what was said is kept.').action(async (task, options) =>
    (await chats()).stop(task, options),
  )
  chatCommand(root, 'suggest <message>', 'Questions that could follow an answer.').action(async (message, options) =>
    (await chats()).suggest(message, options),
  )
  chatCommand(root, 'feedback <message>', 'Rate an answer, or take the rating back.')
    .addArgument(new Argument('<rating>').choices(['like', 'dislike', 'none']))
    .option('--note <text>', 'why')
    .action(async (message, rating, options) => (await chats()).feedback(message, rating, options))
  listOptions(chatCommand(root, 'feedbacks', 'Ratings of the application, newest first.'), 20)
    .option('--page <n>', 'page, from 1', countOf('--page'))
    .action(async (options) => (await chats()).feedbacks(options))
  chatCommand(root, 'upload <file>', 'Upload an image for a message; - is stdin.')
    .option('--name <name>', 'what the file is called')
    .action(async (file, options) => (await files()).upload(file, options))
  chatCommand(root, 'preview <id>', 'Fetch an image of a message.')
    .option('-o, --output <file>', 'where to write it, instead of stdout')
    .action(async (id, options) => (await files()).preview(id, options))
  chatCommand(root, 'transcribe <file>', 'Write down what is said in an audio file; - is stdin.')
    .option('--name <name>', 'what the file is called, such as talk.mp3, where its bytes do not say what they are')
    .action(async (file, options) => (await audio()).transcribe(file, options))
  chatCommand(root, 'speak [text]', 'Read a text or an answer aloud; - reads the text from stdin.')
    .option('--message <id>', 'the answer to read, instead of a text')
    .option('--voice <name>', "instead of the application's")
    .option('-o, --output <file>', 'where to write the audio, instead of playing it or, in a pipe, of stdout')
    .action(async (text, options) => (await audio()).speak(text, options))
  chatCommand(root, 'app', 'What the application says of itself.')
    .addArgument(new Argument('[part]').choices(['info', 'parameters', 'meta', 'site']))
    .action(async (part, options) => (await chats()).describe(part, options))
}

const ORDERS = ['created_at', '-created_at', 'updated_at', '-updated_at']

function addConversations(root: Command): void {
  listOptions(
    chatCommand(root, 'history <conversation>', 'The newest messages of a conversation, oldest first.'),
    100,
  ).action(async (id, options) => (await chats()).history(id, options))
  const group = root.command('conversations').description('List, rename and delete conversations, and their variables.')
  listOptions(chatCommand(group, 'list', 'Conversations, the latest first; also without this word.', true), 20)
    .alias('ls')
    .addOption(new Option('--sort <order>', 'a minus turns it round (default -updated_at)').choices(ORDERS))
    .option('--cursor <id>', 'go on after this conversation')
    .action(async (options) => (await chats()).conversations(options))
  chatCommand(group, 'rename <id> [name]', 'Name a conversation.')
    .option('--auto', 'after its first question')
    .action(async (id, name, options) => (await chats()).rename(id, name, options))
  chatCommand(group, 'delete <id>', 'Delete a conversation with its messages.').action(async (id, options) =>
    (await chats()).remove(id, options),
  )
  chatCommand(group, 'vars <id>', 'Variables of a conversation.')
    .option('--name <name>', 'only those whose name holds this')
    .action(async (id, options) => (await chats()).variables(id, options))
  chatCommand(
    group,
    'set-var <id> <name> <value>',
    'Set a variable of a conversation; - reads the value from stdin.',
  ).action(async (id, name, value, options) => (await chats()).setVariable(id, name, value, options))
}

function addAnnotations(root: Command): void {
  const group = root.command('annotations').description('Questions with fixed answers.')
  const fields = (child: Command) =>
    child.requiredOption('--question <text>', 'the question').requiredOption('--answer <text>', 'its fixed answer')
  listOptions(chatCommand(group, 'list', 'Annotations, the newest first; also without this word.', true), 20)
    .alias('ls')
    .option('--keyword <text>', 'only those that hold this')
    .option('--page <n>', 'page, from 1', countOf('--page'))
    .action(async (options) => (await annotations()).listAnnotations(options))
  fields(chatCommand(group, 'add', 'Give a question a fixed answer.')).action(async (options) =>
    (await annotations()).addAnnotation(options),
  )
  fields(chatCommand(group, 'update <id>', 'Change question and answer.')).action(async (id, options) =>
    (await annotations()).updateAnnotation(id, options),
  )
  chatCommand(group, 'delete <id>', 'Delete an annotation.').action(async (id, options) =>
    (await annotations()).deleteAnnotation(id, options),
  )
  const reply = root.command('annotation-reply').description('Answer by annotations where a question is alike.')
  chatCommand(reply, 'enable', 'Switch it on; a job does it.')
    .option('--threshold <0..1>', 'how alike a question must be (default 0.9)', numberOf('--threshold'))
    .option('--wait', 'until the job is done')
    .action(async (options) => (await annotations()).setReply('enable', options))
  chatCommand(reply, 'disable', 'Switch it off.')
    .option('--wait', 'until the job is done')
    .action(async (options) => (await annotations()).setReply('disable', options))
  chatCommand(reply, 'status <job>', 'How far the job of a switch is.')
    .addOption(new Option('--action <action>', 'what it does').choices(['enable', 'disable']).default('enable'))
    .action(async (job, options) => (await annotations()).replyStatus(job, options))
}
