import { type Command, Option } from 'commander'
import { addKeyCommand, addManageCommand, collect, parseNumberOption } from './command.js'

const loadApps = () => import('./apps.js')

/** Adds `kchat apps …` and the commands for stored keys. */
export function addAppCommands(root: Command): void {
  addKeyCommand(
    root,
    'login <name>',
    'Store an application key under a name; reads it from stdin or prompts without echo.',
  ).action(async (name, options) => (await loadApps()).storeKey(name, options))
  addKeyCommand(root, 'use [name]', 'Select the current key by name; without a name, list the stored keys.').action(
    async (name, options) => (await loadApps()).selectKey(name, options),
  )
  const group = root.command('apps').description('Manage applications and their keys (with the token of ks).')
  addFieldOptions(addManageCommand(group, 'create [name]', 'Create an application and store a key for it.'))
    .optionsGroup('Application:')
    .option('--use', 'make its key the current one, even if another key is current')
    .action(async (name, options) => (await loadApps()).createApp(name, options))
  addManageCommand(group, 'list', 'List the applications (default command).', { isDefault: true })
    .alias('ls')
    .action(async (options) => (await loadApps()).listApps(options))
  addManageCommand(group, 'show <app>', 'Show the settings of an application, by id or name.').action(
    async (app, options) => (await loadApps()).showApp(app, options),
  )
  addFieldOptions(addManageCommand(group, 'update <app>', 'Change an application; other fields stay unchanged.'))
    .optionsGroup('Application:')
    .option('--name <name>', 'new name')
    .action(async (app, options) => (await loadApps()).updateApp(app, options))
  addManageCommand(group, 'delete <app>', 'Delete an application with its keys and conversations.').action(
    async (app, options) => (await loadApps()).deleteApp(app, options),
  )
  const keys = group.command('keys').description('Keys of an application.')
  addManageCommand(keys, 'create <app>', 'Create a key and show it once.').action(async (app, options) =>
    (await loadApps()).createKey(app, options),
  )
  addManageCommand(keys, 'list <app>', 'List the keys, without their secrets.')
    .alias('ls')
    .action(async (app, options) => (await loadApps()).listKeys(app, options))
  addManageCommand(keys, 'revoke <app> <key-id>', 'Revoke a key.').action(async (app, keyId, options) =>
    (await loadApps()).revokeKey(app, keyId, options),
  )
}

/** Adds options for every field of an application. */
function addFieldOptions(child: Command): Command {
  child
    .optionsGroup('Application:')
    .option(
      '--from <file>',
      'JSON or YAML of an application, as show prints it; - reads stdin; options take precedence',
    )
    .option('--description <text>', 'purpose of the application')
    .option('--tag <tag>', 'tag, repeatable', collect)
    .option('--no-tag', 'no tags')
    .option('--enabled', 'accept its keys')
    .option('--no-enabled', 'reject its keys')
    .option('--max-concurrent <n>', 'maximum concurrent answers; 0 is no limit', parseNumberOption('--max-concurrent'))
  for (const add of [addAnswerOptions, addAppearanceOptions, addBlockedWordOptions, addMediaOptions]) add(child)
  return child
}

function addAnswerOptions(child: Command): void {
  child
    .optionsGroup('Answers:')
    .option('--space <space>', 'slug or id of a space to answer from, repeatable', collect)
    .option('--no-space', 'answer from no space')
    .addOption(
      new Option('--mode <mode>', 'answer mode; in agent-chat, the model decides what to search').choices([
        'chat',
        'agent-chat',
      ]),
    )
    .option('--model <plugin/provider/model>', 'model for answers')
    .option('--no-model', 'use the model of the space or daemon')
    .option('--instructions <text>', 'system instructions for the model; - reads stdin')
    .option('--variables <file>', 'conversation variables, a list in JSON or YAML; - reads stdin')
    .option('--no-variables', 'no conversation variables')
    .option('--temperature <0..2>', 'temperature of the model', parseNumberOption('--temperature'))
    .option('--no-temperature', "use the model's default temperature")
    .option('--max-tokens <n>', 'maximum length of an answer, in tokens', parseNumberOption('--max-tokens'))
    .option('--no-max-tokens', 'use the default maximum length')
    .option('--citations', 'cite passages in answers')
    .option('--no-citations', 'no citations')
    .optionsGroup('Prices:')
    .option('--prompt-price <price>', 'price per unit of prompt tokens, such as 0.001')
    .option('--completion-price <price>', 'price per unit of completion tokens')
    .option('--price-unit <unit>', 'fraction of the unit per token, such as 0.001')
    .option('--currency <code>', 'currency code, such as USD')
    .option('--no-prices', 'no prices')
}

function addAppearanceOptions(child: Command): void {
  child
    .optionsGroup('Appearance:')
    .option('--opening <text>', 'opening message')
    .option('--question <text>', 'suggested first question, repeatable', collect)
    .option('--no-question', 'no suggested first questions')
    .option('--suggest', 'suggest questions after answers')
    .option('--no-suggest', 'no suggestions after answers')
    .option('--form <file>', 'controls of the input form, a list in JSON or YAML; - is stdin')
    .option('--no-form', 'no input form')
    .option('--site <key=value>', 'setting of the web page, such as title=Handbook, repeatable', collect)
    .option('--no-site', 'no settings of the web page')
}

function addBlockedWordOptions(child: Command): void {
  child
    .optionsGroup('Blocked words:')
    .option('--sensitive-word <word>', 'blocked word, repeatable', collect)
    .option('--sensitive-words <file>', 'file of blocked words, one per line; - reads stdin')
    .option('--no-sensitive-words', 'block no words')
    .option('--input-response <text>', 'reply to a question with a blocked word')
    .option('--no-input-response', 'do not block questions')
    .option('--output-response <text>', 'replacement of an answer with a blocked word')
    .option('--no-output-response', 'do not block answers')
}

function addMediaOptions(child: Command): void {
  child
    .optionsGroup('Files and speech:')
    .option('--vision', 'accept images with messages; needs a vision model')
    .option('--no-vision', 'accept no images')
    .addOption(
      new Option('--upload-status <status>', 'HTTP status of upload responses; some clients accept only 201').choices([
        '200',
        '201',
      ]),
    )
    .option('--images <n>', 'maximum images of a message, 1 to 10', parseNumberOption('--images'))
    .addOption(
      new Option('--image-detail <detail>', 'resolution of images for the model').choices(['low', 'high', 'auto']),
    )
    .option('--image-transfer <method>', 'transfer method of images, local_file or remote_url, repeatable', collect)
    .option('--documents', 'accept documents with messages; answers of the conversation take passages of them')
    .option('--no-documents', 'accept no documents')
    .option('--max-documents <n>', 'maximum documents of a message, 1 to 10', parseNumberOption('--max-documents'))
    .option('--speech-to-text', 'transcribe audio; needs a speech-to-text model')
    .option('--no-speech-to-text', 'do not transcribe audio')
    .option('--speech-to-text-model <plugin/provider/model>', 'speech-to-text model')
    .option('--no-speech-to-text-model', "use the daemon's speech-to-text model")
    .option('--speech-to-text-language <name>', 'spoken language, such as en')
    .option('--text-to-speech', 'read texts aloud; needs a text-to-speech model')
    .option('--no-text-to-speech', 'do not read texts aloud')
    .option('--text-to-speech-model <plugin/provider/model>', 'text-to-speech model')
    .option('--no-text-to-speech-model', "use the daemon's text-to-speech model")
    .option('--text-to-speech-language <name>', 'language of texts that are read aloud, such as en')
    .option('--language <name>', 'language of speech-to-text and text-to-speech')
    .option('--voice <name>', 'voice of the text-to-speech model')
    .option('--auto-play', 'include audio in streamed answers')
    .option('--no-auto-play', 'no audio in streamed answers')
}
