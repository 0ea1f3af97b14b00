import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import {
  checkName,
  configureProviders,
  type NewProvider,
  OPENAI_COMPATIBLE,
  serverAddress,
  serverOf,
} from '../../cli/models/configured.js'
import { detectServers } from '../../cli/models/detect.js'
import { OWN_ADDRESS, PRESETS } from '../../cli/models/presets.js'
import { defined } from '../../lib/defined.js'

export default class ModelsAdd extends BaseCommand {
  static override summary =
    'add a model provider to the local daemon; its first chat model answers unless another one does'
  static override description =
    `Presets: ${Object.keys(PRESETS).join(', ')}. Only a server at an address is asked for its models; keys are in environment variables and are never given here. A daemon that commands or systemd started is restarted.`
  static override examples = [
    '<%= config.bin %> models add openai --model gpt-5-mini',
    '<%= config.bin %> models add http://127.0.0.1:8000/v1 --provider vllm --context-tokens 32768',
  ]
  static override args = {
    name: Args.string({ required: true, description: 'name of a preset, or address of a server' }),
  }
  static override flags = {
    provider: Flags.string({ description: 'name that references of its models use' }),
    model: Flags.string({ description: 'its model that answers, unless a default generator is set' }),
    'key-env': Flags.string({ description: 'environment variable that holds the key' }),
    'context-tokens': Flags.integer({ min: 1024, description: 'window of its models, in tokens' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsAdd)
    const preset = Object.hasOwn(PRESETS, args.name) ? PRESETS[args.name] : undefined
    const own = Object.hasOwn(OWN_ADDRESS, args.name) ? OWN_ADDRESS[args.name] : undefined
    if (own !== undefined) throw usageError(`${args.name} has an address of your own`, own)
    if (preset === undefined && !/^https?:\/\/|:\d+/.test(args.name))
      throw usageError(
        `there is no preset ${JSON.stringify(args.name)}`,
        `presets are ${Object.keys(PRESETS).join(', ')}; anything else is the address of a server`,
      )
    const baseUrl = preset?.baseUrl ?? serverAddress(args.name)
    const provider = checkName(flags.provider ?? (preset === undefined ? new URL(baseUrl).hostname : args.name))
    const apiKeyEnv = flags['key-env'] ?? preset?.apiKeyEnv
    if (apiKeyEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(apiKeyEnv))
      // it may be the key itself, so it is not repeated
      throw usageError('--key-env must be the name of an environment variable')
    const window = flags['context-tokens'] ?? preset?.contextTokens
    const added = {
      provider,
      baseUrl,
      ...defined({ apiKeyEnv }),
      ...(window === undefined ? {} : { contextTokens: { '*': window } }),
    }
    const model = flags.model ?? (preset === undefined ? await firstChatModel(added) : undefined)
    const generators = model === undefined ? [] : [`${provider}/${model}`]
    const generator = configureProviders(this.dirs.data, [added], generators)
    if (this.out.isJson) this.out.json({ provider, baseUrl, ...defined({ apiKeyEnv, generator }) })
    else this.out.line(`added ${provider} at ${baseUrl}`)
    if (generator !== undefined) this.out.note(`${generator} answers questions from now on`)
    if (apiKeyEnv !== undefined) this.out.note(`hint: the daemon reads the key from ${apiKeyEnv} when it starts`)
    const { applySettings } = await import('../../cli/daemon-restart.js')
    const isApplied = await applySettings(this.dirs)
    this.out.note(`hint: \`ks models test\` tries it${isApplied ? '' : ', `ks daemon restart` puts it in force'}`)
  }
}

/** The first model of a server that can chat; undefined where it does not answer. */
async function firstChatModel({ provider, baseUrl, apiKeyEnv }: NewProvider): Promise<string | undefined> {
  const setting = { pluginId: OPENAI_COMPATIBLE, provider, baseUrl, ...defined({ apiKeyEnv }) }
  const { headers = {} } = serverOf(setting, process.env).server
  const [found] = await detectServers([{ provider, url: baseUrl, headers: { ...headers } }])
  return found?.models.find(({ use }) => use === 'chat')?.name
}
