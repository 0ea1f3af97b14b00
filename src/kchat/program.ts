import { Argument, Command, CommanderError } from 'commander'
import { ExitWith } from '../cli/cli-error.js'
import { errorReport, renderReport } from '../cli/report-error.js'
import { EXIT } from '../contract/errors.js'
import * as apps from './apps.js'
import * as chats from './conversations.js'
import { send } from './send.js'

/** `kchat`, the terminal client of the chat service. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
  })
  try {
    await program().parseAsync([...argv], { from: 'user' })
  } catch (error) {
    process.exitCode = fail(error, argv)
  }
}

function fail(error: unknown, argv: readonly string[]): number {
  if (error instanceof ExitWith) return error.exit
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage // it has said why
  const report = errorReport(error)
  process.stderr.write(renderReport(report, 'kchat', argv.includes('--json')))
  return report.exitCode
}

function program(): Command {
  const root = new Command('kchat')
    .description('Chat with applications that answer from knowledge spaces.')
    .exitOverride()
    .showHelpAfterError('(kchat --help shows the commands)')
  addChat(root)
  addConversations(root)
  addApps(root)
  return root
}

/** A command with the options that all of them take. */
function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--url <url>', 'address of the service, instead of the local daemon')
    .option('--context <name>', 'context of ks to use')
    .option('--json', 'print JSON')
}

/** A command that speaks as an end user of an application. */
function chatCommand(parent: Command, usage: string, description: string): Command {
  return command(parent, usage, description)
    .option('--app <name>', 'stored key to use, instead of the current one')
    .option('--user <user>', 'end user (KCHAT_USER, else the login name)')
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

function addChat(root: Command): void {
  chatCommand(root, 'send <text>', 'Send one message and stream the answer; - reads it from stdin.')
    .option('--conversation <id>', 'id, last or new', 'new')
    .option('--input <key=value>', 'value of a variable of the application, repeatable', collect)
    .option('--blocking', 'wait for the whole answer')
    .option('--no-name', 'do not make a name for a new conversation')
    .action(send)
  chatCommand(root, 'stop <task>', 'Stop an answer; what was said is kept.').action(chats.stop)
  chatCommand(root, 'suggest <message>', 'Questions that could follow an answer.').action(chats.suggest)
  chatCommand(root, 'feedback <message>', 'Rate an answer, or take the rating back.')
    .addArgument(new Argument('<rating>').choices(['like', 'dislike', 'none']))
    .option('--note <text>', 'why')
    .action(chats.feedback)
  chatCommand(root, 'feedbacks', 'Ratings of the application, newest first.')
    .option('--page <n>', 'page, from 1')
    .action(chats.feedbacks)
  chatCommand(root, 'app', 'What the application says of itself.')
    .addArgument(new Argument('[part]').choices(['info', 'parameters', 'meta', 'site']))
    .action(chats.describe)
}

function addConversations(root: Command): void {
  chatCommand(root, 'history <conversation>', 'Messages of a conversation, oldest first.')
    .option('--all', 'to the beginning, not only the newest 100')
    .action(chats.history)
  const group = root.command('conversations').description('List, rename and delete conversations.')
  chatCommand(group, 'list', 'Conversations, the latest first.')
    .option('--limit <n>', '1 to 100, default 20')
    .action(chats.conversations)
  chatCommand(group, 'rename <id> [name]', 'Name a conversation.')
    .option('--auto', 'after its first question')
    .action(chats.rename)
  chatCommand(group, 'delete <id>', 'Delete a conversation with its messages.').action(chats.remove)
}

function addApps(root: Command): void {
  command(root, 'login <name>', 'Keep the application key that stdin gives, under a name.').action(apps.login)
  command(root, 'use [name]', 'Make a stored key the current one; without a name, list them.').action(apps.use)
  const group = root.command('apps').description('Manage applications and their keys (with the token of ks).')
  const fields = (child: Command) =>
    child
      .option('--space <space>', 'slug or id of a space to answer from, repeatable', collect)
      .option('--description <text>')
      .option('--opening <text>', 'opening words')
      .option('--suggest', 'suggest questions after answers')
      .option('--no-suggest')
      .option('--vision', 'take images with messages; needs a model that can see')
      .option('--no-vision')
      .option('--images <n>', 'images with one message, 1 to 10')
      .option('--speech-to-text', 'write down what is said; needs a model for it')
      .option('--no-speech-to-text')
      .option('--text-to-speech', 'read texts aloud; needs a model for it')
      .option('--no-text-to-speech')
      .option('--voice <name>', 'of the model that reads aloud')
      .option('--language <name>', 'what is read and spoken, such as en')
      .option('--auto-play', 'streamed answers bring their own audio')
      .option('--no-auto-play')
  fields(command(group, 'create <name>', 'Create an application and keep a key of it.')).action(apps.createApp)
  command(group, 'list', 'List the applications.').action(apps.listApps)
  command(group, 'show <id>', 'Show an application.').action(apps.showApp)
  fields(command(group, 'update <id>', 'Change an application; what is not named stays.'))
    .option('--name <name>')
    .option('--enabled')
    .option('--no-enabled', 'refuse its keys')
    .action(apps.updateApp)
  command(group, 'delete <id>', 'Delete an application and everything of it.').action(apps.deleteApp)
  const keys = group.command('keys').description('Keys of an application.')
  command(keys, 'create <id>', 'Make a key and show it, this once.').action(apps.createKey)
  command(keys, 'list <id>', 'List the keys, without the keys themselves.').action(apps.listKeys)
  command(keys, 'revoke <id> <key-id>', 'Refuse a key from now on.').action(apps.revokeKey)
}
