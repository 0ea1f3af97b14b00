import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import type { AddedProvider, DetectedModelRow } from '../../cli/json-output/models.js'
import {
  checkProviderName,
  type NewProvider,
  OPENAI_COMPATIBLE,
  parseServerAddress,
  saveProviders,
  toModelServer,
} from '../../cli/models/configured.js'
import { detectServers } from '../../cli/models/detect.js'
import { makeNamesUnique, toCandidates, toProvider } from '../../cli/models/detected.js'
import { CUSTOM_ADDRESS_HINTS, PRESETS } from '../../cli/models/presets.js'
import { confirm } from '../../cli/prompt.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

interface ProviderFlags {
  server?: string[] | undefined
  provider?: string | undefined
  model?: string | undefined
  'key-env'?: string | undefined
  'context-tokens'?: number | undefined
}

export default class ModelsAdd extends BaseCommand {
  static override summary = 'add a model provider to the local daemon, or find servers on this machine and add them'
  static override isLocalOnly = true
  static override description =
    `Without NAME, queries the default ports of Ollama, LM Studio, llama.cpp and vLLM on loopback, or the servers of \`--server\`, and adds what answers after confirmation. Presets: ${Object.keys(PRESETS).join(', ')}. Only a server at a given address is queried for its models. Its first chat model becomes the default if there is none. Keys are read from environment variables and are never passed here. A daemon that was started by a command or by systemd is restarted.`
  static override examples = [
    '<%= config.bin %> models add openai --model gpt-5-mini',
    '<%= config.bin %> models add',
    '<%= config.bin %> models add --json',
    '<%= config.bin %> models add http://127.0.0.1:8000/v1 --provider vllm --context-tokens 32768',
  ]
  static override args = {
    name: Args.string({ description: 'name of a preset, or URL of a server' }),
  }
  static override flags = {
    server: Flags.string({ multiple: true, description: 'URL of a server to query, without NAME' }),
    provider: Flags.string({ description: 'name of the provider in model references' }),
    model: Flags.string({ description: 'model for answers, unless a default generator is set' }),
    'key-env': Flags.string({ description: 'environment variable with the key' }),
    'context-tokens': Flags.integer({ min: 1024, description: 'context window of its models, in tokens' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsAdd)
    if (args.name === undefined) await this.addDetected(flags)
    else if (flags.server === undefined) await this.addNamed(args.name, flags)
    else throw usageError('--server selects servers to query: give no NAME')
  }

  private async addNamed(name: string, flags: ProviderFlags): Promise<void> {
    const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined
    const customUrlHint = Object.hasOwn(CUSTOM_ADDRESS_HINTS, name) ? CUSTOM_ADDRESS_HINTS[name] : undefined
    if (customUrlHint !== undefined) throw usageError(`${name} has a URL of your own`, customUrlHint)
    if (preset === undefined && !/^https?:\/\/|:\d+/.test(name))
      throw usageError(
        `there is no preset ${JSON.stringify(name)}`,
        `presets are ${Object.keys(PRESETS).join(', ')}; other names must be URLs of servers`,
      )
    const baseUrl = preset?.baseUrl ?? parseServerAddress(name)
    const provider = checkProviderName(flags.provider ?? (preset === undefined ? new URL(baseUrl).hostname : name))
    const apiKeyEnv = flags['key-env'] ?? preset?.apiKeyEnv
    if (apiKeyEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(apiKeyEnv))
      // The value may be the key itself, so it is not repeated.
      throw usageError('--key-env must be the name of an environment variable')
    const contextTokens = flags['context-tokens'] ?? preset?.contextTokens
    const added = {
      provider,
      baseUrl,
      ...omitUndefined({ apiKeyEnv }),
      ...(contextTokens === undefined ? {} : { contextTokens: { '*': contextTokens } }),
    }
    const model = flags.model ?? (preset === undefined ? await findFirstChatModel(added) : undefined)
    const generators = model === undefined ? [] : [`${provider}/${model}`]
    const generator = saveProviders(this.dirs.data, [added], generators)
    if (this.out.isJson)
      this.out.json({ provider, baseUrl, ...omitUndefined({ apiKeyEnv, generator }) } satisfies AddedProvider)
    else this.out.line(`added ${provider} at ${baseUrl}`)
    if (generator !== undefined) this.out.note(`${generator} now answers questions`)
    if (apiKeyEnv !== undefined) this.out.note(`hint: the daemon reads the key from ${apiKeyEnv} at its start`)
    const { applySettings } = await import('../../cli/daemon-restart.js')
    const isApplied = await applySettings(this.dirs)
    this.out.note(`hint: \`ks models test\` tests it${isApplied ? '' : ', `ks daemon restart` applies it'}`)
  }

  private async addDetected(flags: ProviderFlags): Promise<void> {
    const detected = await detectServers(toCandidates(flags))
    const renamed =
      flags.provider === undefined
        ? detected
        : detected.map((server) => ({ ...server, provider: checkProviderName(flags.provider ?? '') }))
    const servers = makeNamesUnique(renamed)
    const rows = servers.flatMap<DetectedModelRow>(({ provider, baseUrl, models }) =>
      models.map((model) => ({ provider, baseUrl, ...model, can: model.can.join(', ') })),
    )
    await this.out.list(rows, {
      columns: [
        { field: 'provider', kind: 'name' },
        { field: 'name', title: 'MODEL', kind: 'name' },
        { field: 'use' },
        { field: 'can', kind: 'name' },
        { field: 'contextTokens', title: 'WINDOW', kind: 'count' },
        { field: 'mostContextTokens', title: 'MAX WINDOW', kind: 'count' },
      ],
      empty: 'No model server answers.',
      hint: '`ks models add --server ADDRESS` queries another server',
    })
    if (servers.length === 0) return
    if (rows.some(({ mostContextTokens }) => mostContextTokens !== undefined))
      this.out.note(
        'hint: WINDOW is the context length with which the server loads the model; OLLAMA_CONTEXT_LENGTH, or the setting of your server, increases it',
      )
    const names = servers.map(({ provider }) => provider).join(', ')
    if (!this.prompt.yes && !this.prompt.interactive) {
      this.out.note(`hint: \`--yes\` configures ${names}`)
      return
    }
    if (!(await confirm(`configure ${names}`, this.prompt))) return
    const generators = servers.flatMap(({ provider, models }) =>
      models.filter(({ use }) => use === 'chat').map(({ name }) => `${provider}/${name}`),
    )
    const generator = saveProviders(this.dirs.data, servers.map(toProvider), generators)
    this.out.note(`configured ${names}`)
    if (generator !== undefined) this.out.note(`${generator} now answers questions`)
    const { applySettings } = await import('../../cli/daemon-restart.js')
    if (!(await applySettings(this.dirs))) this.out.note('hint: `ks daemon restart` applies it')
  }
}

/** The first chat model of a server; undefined if the server does not answer. */
async function findFirstChatModel({ provider, baseUrl, apiKeyEnv }: NewProvider): Promise<string | undefined> {
  const setting = { pluginId: OPENAI_COMPATIBLE, provider, baseUrl, ...omitUndefined({ apiKeyEnv }) }
  const { headers = {} } = toModelServer(setting, process.env).server
  const [server] = await detectServers([{ provider, url: baseUrl, headers: { ...headers } }])
  return server?.models.find(({ use }) => use === 'chat')?.name
}
