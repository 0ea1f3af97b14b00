import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { checkName, configureProviders, serverAddress } from '../../cli/models/configured.js'
import { OWN_ADDRESS, PRESETS } from '../../cli/models/presets.js'
import { defined } from '../../lib/defined.js'

export default class ModelsAdd extends BaseCommand {
  static override summary = 'add a model provider to the settings of the local daemon'
  static override description =
    `Presets: ${Object.keys(PRESETS).join(', ')}. Nobody is asked; a key stands in an environment variable and is never given here.`
  static override examples = [
    '<%= config.bin %> models add openai',
    '<%= config.bin %> models add http://127.0.0.1:8000/v1 --provider vllm --context-tokens 32768',
  ]
  static override args = {
    name: Args.string({ required: true, description: 'name of a preset, or address of a server' }),
  }
  static override flags = {
    provider: Flags.string({ description: 'name that references of its models use' }),
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
    configureProviders(this.dirs.data, [
      {
        provider,
        baseUrl,
        ...defined({ apiKeyEnv }),
        ...(window === undefined ? {} : { contextTokens: { '*': window } }),
      },
    ])
    if (this.out.isJson) this.out.json({ provider, baseUrl, ...defined({ apiKeyEnv }) })
    else this.out.line(`added ${provider} at ${baseUrl}`)
    if (apiKeyEnv !== undefined) this.out.note(`hint: the daemon reads the key from ${apiKeyEnv} when it starts`)
    this.out.note('hint: `ks models test` tries it, `ks daemon restart` puts it in force')
  }
}
