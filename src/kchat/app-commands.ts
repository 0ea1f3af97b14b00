import { type Command, Option } from 'commander'
import { collect, keyCommand, manageCommand, numberOf } from './command.js'

const apps = () => import('./apps.js')

/** `kchat apps …`, and the commands that keep keys. */
export function addApps(root: Command): void {
  keyCommand(root, 'login <name>', 'Keep an application key under a name: from stdin, or typed unseen.').action(
    async (name, options) => (await apps()).login(name, options),
  )
  keyCommand(root, 'use [name]', 'Make a stored key the current one; without a name, list them.').action(
    async (name, options) => (await apps()).use(name, options),
  )
  const group = root.command('apps').description('Manage applications and their keys (with the token of ks).')
  fields(manageCommand(group, 'create [name]', 'Create an application and keep a key of it.'))
    .optionsGroup('Application:')
    .option('--use', 'make its key the current one, also where there is one')
    .action(async (name, options) => (await apps()).createApp(name, options))
  manageCommand(group, 'list', 'List the applications; also without this word.', true)
    .alias('ls')
    .action(async (options) => (await apps()).listApps(options))
  manageCommand(group, 'show <app>', 'Show an application, by its id or name: all that update can change.').action(
    async (app, options) => (await apps()).showApp(app, options),
  )
  fields(manageCommand(group, 'update <app>', 'Change an application; what is not named stays.'))
    .optionsGroup('Application:')
    .option('--name <name>', 'another name')
    .action(async (app, options) => (await apps()).updateApp(app, options))
  manageCommand(group, 'delete <app>', 'Delete an application and everything of it.').action(async (app, options) =>
    (await apps()).deleteApp(app, options),
  )
  const keys = group.command('keys').description('Keys of an application.')
  manageCommand(keys, 'create <app>', 'Make a key and show it, this once.').action(async (app, options) =>
    (await apps()).createKey(app, options),
  )
  manageCommand(keys, 'list <app>', 'List the keys, without the keys themselves.')
    .alias('ls')
    .action(async (app, options) => (await apps()).listKeys(app, options))
  manageCommand(keys, 'revoke <app> <key-id>', 'Refuse a key from now on.').action(async (app, keyId, options) =>
    (await apps()).revokeKey(app, keyId, options),
  )
}

/** Options for every field of an application. */
function fields(child: Command): Command {
  child
    .optionsGroup('Application:')
    .option('--from <file>', 'JSON or YAML of an application, as show prints it; - is stdin; options go before it')
    .option('--description <text>', 'what it is for')
    .option('--tag <tag>', 'tag, repeatable', collect)
    .option('--no-tag', 'no tags')
    .option('--enabled', 'take its keys')
    .option('--no-enabled', 'refuse its keys')
    .option('--max-concurrent <n>', 'answers at once, 0 is no limit', numberOf('--max-concurrent'))
  return [answers, looks, words, senses].reduce((built, add) => add(built), child)
}

function answers(child: Command): Command {
  return child
    .optionsGroup('Answers:')
    .option('--space <space>', 'slug or id of a space to answer from, repeatable', collect)
    .option('--no-space', 'answer from no space')
    .addOption(new Option('--mode <mode>', 'agent-chat: the model finds things out by itself').choices(MODES))
    .option('--model <plugin/provider/model>', 'model that answers')
    .option('--no-model', 'the model of the space, or of the daemon')
    .option('--instructions <text>', 'what the model is told first; - reads it from stdin')
    .option('--variables <file>', 'what each conversation keeps, a list in JSON or YAML; - is stdin')
    .option('--no-variables', 'nothing')
    .option('--temperature <0..2>', 'of the model', numberOf('--temperature'))
    .option('--no-temperature', "the model's own")
    .option('--max-tokens <n>', 'longest answer, in tokens', numberOf('--max-tokens'))
    .option('--no-max-tokens', 'the default')
    .option('--citations', 'say which passages answers come from')
    .option('--no-citations', 'do not say it')
    .optionsGroup('Prices:')
    .option('--prompt-price <price>', 'of a unit of tokens that the model reads, such as 0.001')
    .option('--completion-price <price>', 'of a unit of tokens that it writes')
    .option('--price-unit <unit>', 'what a token is of the unit, such as 0.001')
    .option('--currency <code>', 'such as USD')
    .option('--no-prices', 'say nothing of prices')
}

const MODES = ['chat', 'agent-chat']

function looks(child: Command): Command {
  return child
    .optionsGroup('Look:')
    .option('--opening <text>', 'opening words')
    .option('--question <text>', 'question to begin with, repeatable', collect)
    .option('--no-question', 'no questions to begin with')
    .option('--suggest', 'suggest questions after answers')
    .option('--no-suggest', 'suggest none')
    .option('--form <file>', 'controls of the input form, a list in JSON or YAML; - is stdin')
    .option('--no-form', 'no input form')
    .option('--site <key=value>', 'setting of the web page, such as title=Handbook, repeatable', collect)
    .option('--no-site', 'no settings of the web page')
}

function words(child: Command): Command {
  return child
    .optionsGroup('Words that are not let through:')
    .option('--sensitive-word <word>', 'word, repeatable', collect)
    .option('--sensitive-words <file>', 'file with a word in each line; - is stdin')
    .option('--no-sensitive-words', 'let all words through')
    .option('--input-response <text>', 'said in answer to a question that holds one')
    .option('--no-input-response', 'let questions through')
    .option('--output-response <text>', 'said in place of an answer that holds one')
    .option('--no-output-response', 'let answers through')
}

function senses(child: Command): Command {
  return child
    .optionsGroup('Images and speech:')
    .option('--vision', 'take images with messages; needs a model that can see')
    .option('--no-vision', 'take none')
    .addOption(
      new Option('--upload-status <status>', 'what an upload is answered with; some clients take only 201').choices([
        '200',
        '201',
      ]),
    )
    .option('--images <n>', 'images with one message, 1 to 10', numberOf('--images'))
    .addOption(new Option('--image-detail <detail>', 'how closely the model looks').choices(['low', 'high', 'auto']))
    .option('--image-transfer <method>', 'local_file or remote_url, repeatable', collect)
    .option('--speech-to-text', 'write down what is said; needs a model for it')
    .option('--no-speech-to-text', 'do not')
    .option('--speech-to-text-model <plugin/provider/model>', 'model that writes it down')
    .option('--no-speech-to-text-model', "the daemon's")
    .option('--speech-to-text-language <name>', 'what is spoken, such as en')
    .option('--text-to-speech', 'read texts aloud; needs a model for it')
    .option('--no-text-to-speech', 'do not')
    .option('--text-to-speech-model <plugin/provider/model>', 'model that reads aloud')
    .option('--no-text-to-speech-model', "the daemon's")
    .option('--text-to-speech-language <name>', 'what is read, such as en')
    .option('--language <name>', 'both languages at once')
    .option('--voice <name>', 'of the model that reads aloud')
    .option('--auto-play', 'streamed answers bring their own audio')
    .option('--no-auto-play', 'they do not')
}
